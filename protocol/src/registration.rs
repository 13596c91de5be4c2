//! Registration of a device with a key (specification, sections 4.3 and 5).
//!
//! The key alone suffices. A device that is known re-activates the same record: no second row, no
//! second slot.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{id::DeviceId, key::EnrolmentKey, secret::Secret, signing::VerifyingKey};

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
    /// Whether a known device keeps its name; `name` is then only the name of a new device.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keeps_name: bool,
    #[schema(value_type = String)]
    pub agent_version: semver::Version,
    pub platform: Platform,
    /// The device's own public key.
    pub public_key: VerifyingKey,
    /// Needed to re-activate a device with a fleet key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<KeyProof>,
}

/// Proof that the old key pair of a device agrees to its re-activation.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct KeyProof {
    #[schema(value_type = String, format = DateTime)]
    pub issued_at: Timestamp,
    /// By the old key over [`proof_statement`], in base64url without padding.
    pub signature: String,
}

/// What a device runs on.
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
    /// Whether the request named a device that is not one of the key's account: `device_id` is
    /// another one then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub requested_id_unknown: bool,
    /// What the device shows to the backend from now on; replaces any earlier one.
    pub device_token: Secret,
    /// Commands of another epoch have no effect.
    pub epoch: u64,
    pub transport: TransportSettings,
    /// The keys that commands are signed with; the device pins them.
    pub backend_keys: Vec<VerifyingKey>,
}

/// How the device reaches the control plane.
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

/// Returns the bytes whose signature by the old key lets `device` take `new_key`.
#[must_use]
pub fn proof_statement(device: DeviceId, new_key: &VerifyingKey, issued_at: Timestamp) -> Vec<u8> {
    format!("link re-activation v1\n{device}\n{}\n{issued_at}", new_key.public_key).into_bytes()
}
