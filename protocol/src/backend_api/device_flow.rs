//! Logging in on one machine by a browser on another (RFC 8628).
//!
//! The names of the members are the RFC's. What is not granted yet is told by problem documents:
//! `authorization-pending`, `slow-down`, `access-denied`, `expired-token`.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::secret::Secret;

/// `POST /auth/device/code`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DeviceCodeRequest {
    /// What the person is shown, such as the name of the machine.
    pub client_name: String,
}

/// The answer to [`DeviceCodeRequest`].
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct DeviceCodeResponse {
    /// To poll with; the person does not see it.
    pub device_code: Secret,
    /// To type in, such as `WDJB-MJHT`.
    pub user_code: String,
    /// Where the person goes.
    pub verification_uri: String,
    /// The same with the code in its fragment, which browsers do not send.
    pub verification_uri_complete: String,
    /// Seconds that both codes are good.
    pub expires_in: u64,
    /// Seconds to wait between two polls.
    pub interval: u64,
}

/// `POST /auth/device/token`: answered with tokens once the person has agreed.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DeviceTokenRequest {
    pub device_code: Secret,
}

/// `POST /auth/device/inquire`: what a code stands for, before the person decides.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct InquireDevice {
    /// Case, spaces and dashes do not matter.
    pub user_code: String,
}

/// The answer to [`InquireDevice`].
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct PendingDevice {
    pub user_code: String,
    pub client_name: String,
    /// The network address that asked.
    pub address: String,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
}

/// `POST /auth/device/decide`: the person agrees or refuses.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DecideDevice {
    pub user_code: String,
    pub allow: bool,
}
