//! A backend of one person on one machine: its owner proves to be the user that runs it.
//!
//! The proof stands in a file that only this user can read. It is shown for a login, for a password,
//! and for a one-time code, which a browser trades for a login of its own.

use serde::{Deserialize, Serialize};

use crate::secret::Secret;

/// The folder of the data folder that only the backend's user can look into.
pub const OWNER_FOLDER: &str = "run";
/// The file in that folder, a JSON text of [`OwnerFile`].
pub const OWNER_FILE: &str = "owner.json";

/// What the running backend writes down for its owner. It is good until the backend ends.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct OwnerFile {
    pub proof: Secret,
    /// Where the backend answers, such as `http://127.0.0.1:8000`.
    pub url: String,
    /// The process of the backend.
    pub pid: u32,
    /// The version that runs.
    pub version: String,
}

/// `POST /api/v1/auth/local/login`: logs the owner in; the first time it makes the account.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnerLogin {
    pub proof: Secret,
    /// What the owner of the first account is called; `owner@localhost` without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
}

/// `POST /api/v1/auth/local/code`: asks for a one-time code.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnerCode {
    pub proof: Secret,
}

/// The answer to [`OwnerCode`].
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct OneTimeCode {
    pub code: Secret,
    /// Seconds that the code is good, for one login.
    pub expires_in: u64,
}

/// `POST /api/v1/auth/local/redeem`: trades a one-time code for a login.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RedeemCode {
    pub code: Secret,
}

/// `POST /api/v1/auth/local/password`: from then on the owner can log in with a password too.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnerPassword {
    pub proof: Secret,
    /// 12 to 200 characters.
    pub password: Secret,
}
