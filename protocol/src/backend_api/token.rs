//! Personal access tokens: what a person's scripts show in place of a login.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{id::TokenId, permission::Permission, personal_token::PersonalToken};

/// `POST /api/v1/tokens`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateToken {
    /// To know it by.
    pub name: String,
    /// What it may be used for, as far as its owner's role allows it then. `account:read` is always
    /// among them.
    #[schema(min_items = 1)]
    pub scopes: Vec<Permission>,
    /// Absent: in 90 days; at most 366 days ahead.
    #[serde(default)]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expires_at: Option<Timestamp>,
}

/// The answer to [`CreateToken`]: the only time that the token itself is shown.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct TokenCreated {
    pub token: PersonalToken,
    pub info: TokenInfo,
}

/// A token without its secret.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct TokenInfo {
    pub token_id: TokenId,
    pub name: String,
    pub scopes: Vec<Permission>,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
    /// To the minute.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_used_at: Option<Timestamp>,
}
