//! Registration and fleet keys.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    id::KeyId,
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
    /// How many devices a fleet key may enrol; absent: no limit of its own.
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
}
