//! Accounts, login and the allowlist setting.

use serde::{Deserialize, Serialize};

use crate::{
    account_name::AccountName,
    allowlist::Origin,
    backend_api::member::Role,
    id::{AccountId, UserId},
    secret::Secret,
};

/// `POST /api/v1/setup`: creates the first account.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SetupRequest {
    /// The token that the first start of the backend prints.
    pub setup_token: Secret,
    pub email: String,
    /// 12 to 200 characters.
    pub password: Secret,
}

/// `POST /api/v1/auth/login`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LoginRequest {
    pub email: String,
    pub password: Secret,
}

/// `POST /api/v1/auth/refresh` and `POST /api/v1/auth/logout`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RefreshRequest {
    pub refresh_token: Secret,
}

/// The answer to a setup, a login or a refresh.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct TokenResponse {
    pub access_token: Secret,
    /// Always `Bearer`.
    pub token_type: String,
    /// Seconds until the access token expires.
    pub expires_in: u64,
    /// The token for the next refresh. Its second use ends the login.
    pub refresh_token: Secret,
}

/// `GET /api/v1/me`: the user and the account of the token.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Me {
    pub user_id: UserId,
    pub account_id: AccountId,
    /// The name of the account for other accounts, for example as the publisher of a shared model.
    #[serde(default)]
    pub account_name: Option<AccountName>,
    pub email: String,
    /// The role of the caller in the account.
    pub role: Role,
}

/// `PUT /api/v1/settings/allowlist`: the new origins of the account.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SetAllowlist {
    pub origins: Vec<Origin>,
}

/// `GET` and `PUT /api/v1/settings/allowlist`: the origins that later deployments and repairs
/// allow.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct AllowlistSetting {
    /// The account's own origins, which its members can change.
    pub origins: Vec<Origin>,
    /// The origins that the backend's configuration adds for every account.
    #[serde(default)]
    pub defaults: Vec<Origin>,
}
