//! Registration and fleet keys.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    id::{KeyId, UserId},
    key::{EnrolmentKey, KeyKind},
};

/// `POST /api/v1/keys`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateKey {
    pub kind: KeyKind,
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expires_at: Option<Timestamp>,
    /// The maximum number of devices that a fleet key registers. Absent: only the account's device limit applies.
    #[serde(default)]
    #[schema(minimum = 1)]
    pub max_devices: Option<u32>,
    #[serde(default)]
    pub tags: Vec<String>,
}

/// The answer to [`CreateKey`]: the only time that the key itself is shown.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct KeyCreated {
    pub key: EnrolmentKey,
    pub info: KeyInfo,
}

/// A key without its secret.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct KeyInfo {
    pub key_id: KeyId,
    pub kind: KeyKind,
    pub name: String,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expires_at: Option<Timestamp>,
    pub max_devices: Option<u32>,
    pub devices: u32,
    pub tags: Vec<String>,
    pub revoked: bool,
    /// The member who is responsible for the key: its creator, or the member who took it over. Absent if unknown.
    #[serde(default)]
    pub created_by: Option<UserId>,
}

/// The filter and the page of a list of keys.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct KeyQuery {
    /// Items of a page: 1 to 200.
    #[param(minimum = 1, maximum = 200, default = 50)]
    pub limit: Option<u32>,
    /// The `next_cursor` of the previous page.
    pub cursor: Option<String>,
    /// Only keys for which this member is responsible, by id.
    pub created_by: Option<String>,
}
