//! Personal access tokens: a person's scripts send them instead of logging in.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{id::TokenId, permission::Permission, personal_token::PersonalToken};

/// `POST /api/v1/tokens`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateToken {
    /// The name of the token in lists.
    pub name: String,
    /// The permissions of the token, limited by its owner's current role. `account:read` is always
    /// included.
    #[schema(min_items = 1)]
    pub scopes: Vec<Permission>,
    /// At most 366 days ahead. Absent: in 90 days.
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
    /// The time of the last use, accurate to a minute.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_used_at: Option<Timestamp>,
}
