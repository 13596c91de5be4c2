//! The login of the owner of a backend that serves one person on one machine. The owner proves to be the operating
//! system's user that runs the backend.
//!
//! The proof is in a file that only this user can read. The owner sends it to log in, to set a password, and to get a
//! one-time code, which a browser exchanges for its own login.

use serde::{Deserialize, Serialize};

use crate::secret::Secret;

/// The subfolder of the data folder that only the backend's user can read.
pub const OWNER_FOLDER: &str = "run";
/// The file in [`OWNER_FOLDER`], a JSON text of [`OwnerFile`].
pub const OWNER_FILE: &str = "owner.json";

/// The file that a running backend writes for its owner. The file is valid until the backend ends.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct OwnerFile {
    pub proof: Secret,
    /// The address of the backend, such as `http://127.0.0.1:8000`.
    pub url: String,
    /// The process id of the backend.
    pub pid: u32,
    /// The version of the running backend.
    pub version: String,
}

/// `POST /api/v1/auth/local/login`: logs the owner in. The first login creates the account.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnerLogin {
    pub proof: Secret,
    /// The e-mail address of the first account's owner. Absent: `owner@localhost`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
}

/// `POST /api/v1/auth/local/code`: requests a one-time code.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnerCode {
    pub proof: Secret,
}

/// The answer to [`OwnerCode`].
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct OneTimeCode {
    pub code: Secret,
    /// Seconds until the code expires. The code is valid for one login.
    pub expires_in: u64,
}

/// `POST /api/v1/auth/local/redeem`: exchanges a one-time code for a login.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RedeemCode {
    pub code: Secret,
}

/// `POST /api/v1/auth/local/password`: sets a password, so that the owner can also log in with it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnerPassword {
    pub proof: Secret,
    /// 12 to 200 characters.
    pub password: Secret,
}
