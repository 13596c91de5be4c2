//! First account, login, logout, and the allowlist setting.

use link_protocol::{
    agent_api::PREFIX,
    allowlist::Origin,
    backend_api::account::{
        AllowlistSetting, LoginRequest, Me, RefreshRequest, SetAllowlist, SetupRequest,
        TokenResponse,
    },
};

use crate::{
    backend::{BackendClient, CallError, Tokens},
    http::{Call, Failure, Http},
};

/// Creates the first account.
///
/// # Errors
/// [`Failure`], such as a wrong setup token or an existing account.
pub async fn set_up(http: &Http, request: &SetupRequest) -> Result<Tokens, Failure> {
    let call = Call::post(format!("{PREFIX}/setup")).json(request);
    http.call::<TokenResponse>(call).await.map(Tokens::from)
}

/// Logs in with an e-mail and a password.
///
/// # Errors
/// [`Failure`], such as a wrong password.
pub async fn login(http: &Http, request: &LoginRequest) -> Result<Tokens, Failure> {
    let call = Call::post(format!("{PREFIX}/auth/login")).json(request);
    http.call::<TokenResponse>(call).await.map(Tokens::from)
}

impl BackendClient {
    /// Revokes the login: its refresh token stops working.
    ///
    /// # Errors
    /// [`Failure`] when the login could not be revoked.
    pub async fn log_out(&self) -> Result<(), Failure> {
        let Some(refresh_token) = self.tokens().refresh else { return Ok(()) };
        let call =
            Call::post(format!("{PREFIX}/auth/logout")).json(&RefreshRequest { refresh_token });
        self.http().call_for_status(call).await
    }

    /// Returns the user and the account of the login.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn me(&self) -> Result<Me, CallError> {
        self.call(|| Call::get(format!("{PREFIX}/me"))).await
    }

    /// Returns the allowlist of later deployments: the account's own origins and the backend's
    /// defaults.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn allowlist(&self) -> Result<AllowlistSetting, CallError> {
        self.call(|| Call::get(format!("{PREFIX}/settings/allowlist"))).await
    }

    /// Replaces the account's own origins.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn set_allowlist(&self, origins: Vec<Origin>) -> Result<AllowlistSetting, CallError> {
        let body = SetAllowlist { origins };
        self.call(|| Call::put(format!("{PREFIX}/settings/allowlist")).json(&body)).await
    }
}
