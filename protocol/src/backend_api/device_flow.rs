//! Login on one machine that a browser on another machine approves (RFC 8628).
//!
//! The names of the members are the RFC's. While the login is not granted, a poll is answered with
//! a problem document: `authorization-pending`, `slow-down`, `access-denied` or `expired-token`.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::secret::Secret;

/// `POST /auth/device/code`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DeviceCodeRequest {
    /// The name of the client that the approving person sees, such as the name of the machine.
    pub client_name: String,
    /// RFC 8628 requires clients to send it (section 3.1). Ignored, because Link keeps no list of clients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
}

/// The answer to [`DeviceCodeRequest`].
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct DeviceCodeResponse {
    /// The secret code that the client polls with. The person does not see it.
    pub device_code: Secret,
    /// The code that the person types, such as `WDJB-MJHT`.
    pub user_code: String,
    /// The page at which the person approves the login.
    pub verification_uri: String,
    /// The same page with the code in the URL's fragment, which browsers do not send.
    pub verification_uri_complete: String,
    /// Seconds until both codes expire.
    pub expires_in: u64,
    /// Seconds to wait between two polls.
    pub interval: u64,
}

/// `POST /auth/device/token`: the answer has tokens once the person has approved the login.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DeviceTokenRequest {
    pub device_code: Secret,
    /// RFC 8628 requires clients to send it (section 3.4).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant_type: Option<DeviceGrant>,
    /// As in [`DeviceCodeRequest`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
}

/// The grant by which a client requests tokens.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub enum DeviceGrant {
    /// A device code (RFC 8628, section 3.4).
    #[serde(rename = "urn:ietf:params:oauth:grant-type:device_code")]
    DeviceCode,
}

/// `POST /auth/device/inquire`: describes the login of a code before the person decides.
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
    /// The network address of the client.
    pub address: String,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
}

/// `POST /auth/device/decide`: the person approves or refuses the login.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DecideDevice {
    pub user_code: String,
    pub allow: bool,
}
