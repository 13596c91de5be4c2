//! Registration of a device with a key (specification, sections 4.3 and 5).
//!
//! The key alone suffices. The registration of a known device re-activates its existing record,
//! without a second row or a second slot in the device limit.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    counter::Epoch, id::DeviceId, key::EnrolmentKey, secret::Secret, signing::VerifyingKey,
};

/// The path of `register-with-key`.
pub const REGISTER_PATH: &str = "/api/v1/devices/register-with-key";

/// Body of `POST` [`REGISTER_PATH`]. Exactly one of the two keys is given.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct RegisterRequest {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registration_key: Option<EnrolmentKey>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet_key: Option<EnrolmentKey>,
    /// The device to re-activate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_id: Option<DeviceId>,
    pub name: String,
    /// Whether a known device keeps its name. `name` is then used only for a new device.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keeps_name: bool,
    #[serde(deserialize_with = "crate::bounded::version")]
    #[schema(value_type = String)]
    pub agent_version: semver::Version,
    pub platform: Platform,
    /// The device's own public key.
    pub public_key: VerifyingKey,
    /// The proof that the re-activation of a device with a fleet key requires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<KeyProof>,
}

/// A proof, signed with the device's old key, that allows the re-activation of the device.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct KeyProof {
    #[schema(value_type = String, format = DateTime)]
    pub issued_at: Timestamp,
    /// The signature of the old key over [`proof_statement`], in base64url without padding.
    pub signature: String,
}

/// The platform of a device.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Platform {
    pub os: String,
    pub arch: String,
    pub hostname: String,
}

/// The answer to a registration.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Registered {
    pub device_id: DeviceId,
    /// Whether the requested device does not belong to the key's account. `device_id` is then a
    /// different id.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub requested_id_unknown: bool,
    /// The token that authenticates the device to the backend. It replaces every earlier token.
    pub device_token: Secret,
    /// The epoch of the registration. Commands of another epoch have no effect.
    #[schema(value_type = u64)]
    pub epoch: Epoch,
    pub transport: TransportSettings,
    /// The public keys that verify signed commands. The device pins them.
    pub backend_keys: Vec<VerifyingKey>,
}

/// The transport from the device to the control plane.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct TransportSettings {
    pub r#type: TransportType,
}

/// The transports of the control plane (specification, section 2.3).
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TransportType {
    Http,
    Zenoh,
}

impl fmt::Display for TransportType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Http => "HTTP",
            Self::Zenoh => "zenoh",
        })
    }
}

/// Returns the bytes that the old key signs so that `device` may change to `new_key`.
#[must_use]
pub fn proof_statement(device: DeviceId, new_key: &VerifyingKey, issued_at: Timestamp) -> Vec<u8> {
    format!("link re-activation v1\n{device}\n{}\n{issued_at}", new_key.public_key).into_bytes()
}
