//! First account, login, logout, and the allowlist setting.

use link_protocol::{
    agent_api::PREFIX,
    allowlist::Origin,
    backend_api::{
        account::{
            AllowlistSetting, LoginRequest, Me, RefreshRequest, SetAllowlist, SetupRequest,
            TokenResponse,
        },
        install::InstallInfo,
    },
    problem::Code,
};

use crate::{
    backend::{BackendClient, CallError, Tokens},
    http::{Call, Failure, Http},
};

/// How often a change is tried while others change the same thing.
const CHANGE_ATTEMPTS: u32 = 5;

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

    /// Returns how devices are installed from the backend.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn install(&self) -> Result<InstallInfo, CallError> {
        self.call(|| Call::get(format!("{PREFIX}/install"))).await
    }

    /// Returns the allowlist of later deployments: the account's own origins and the backend's
    /// defaults.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn allowlist(&self) -> Result<AllowlistSetting, CallError> {
        self.call(|| Call::get(format!("{PREFIX}/settings/allowlist"))).await
    }

    /// Changes the account's own origins. `change` gets the present setting and returns the new origins, or none if nothing
    /// is to be changed. If somebody else changes the list meanwhile, `change` is asked again about the new list.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn change_allowlist(
        &self,
        mut change: impl FnMut(&AllowlistSetting) -> Option<Vec<Origin>>,
    ) -> Result<AllowlistSetting, CallError> {
        let path = format!("{PREFIX}/settings/allowlist");
        let mut attempts = 0;
        loop {
            let (setting, tag) = self.call_tagged(|| Call::get(path.as_str())).await?;
            let Some(origins) = change(&setting) else { return Ok(setting) };
            let body = SetAllowlist { origins };
            let put = || {
                let put = Call::put(path.as_str()).json(&body);
                match &tag {
                    Some(tag) => put.header("if-match", tag.as_str()),
                    // A backend that has no tags replaces whatever is there.
                    None => put,
                }
            };
            attempts += 1;
            match self.call(put).await {
                Err(error) if attempts < CHANGE_ATTEMPTS && was_changed(&error) => {}
                other => return other,
            }
        }
    }
}

/// Tells whether a change was refused because something else was changed first.
fn was_changed(error: &CallError) -> bool {
    matches!(error, CallError::Backend(failure) if failure.code() == Some(Code::PreconditionFailed))
}
