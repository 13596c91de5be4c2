//! Calls of the owner of a backend on this machine, who logs in with a proof in a file that only
//! this user can read.

use link_protocol::{
    agent_api::PREFIX,
    backend_api::{
        account::TokenResponse,
        local_owner::{OneTimeCode, OwnerCode, OwnerLogin, OwnerPassword},
    },
};

use crate::{
    backend::Tokens,
    http::{Call, Failure, Http},
};

/// Logs the owner in. The first login creates the account.
///
/// # Errors
/// [`Failure`] if the backend refuses the proof or does not answer.
pub async fn log_in_owner(http: &Http, request: &OwnerLogin) -> Result<Tokens, Failure> {
    let call = Call::post(format!("{PREFIX}/auth/local/login")).json(request);
    http.call::<TokenResponse>(call).await.map(Tokens::from)
}

/// Requests a one-time login code for a browser.
///
/// # Errors
/// [`Failure`] if the backend refuses the proof or does not answer.
pub async fn owner_code(http: &Http, request: &OwnerCode) -> Result<OneTimeCode, Failure> {
    http.call(Call::post(format!("{PREFIX}/auth/local/code")).json(request)).await
}

/// Sets the owner's password and ends every login of the owner.
///
/// # Errors
/// [`Failure`], for example if the password is too short.
pub async fn set_owner_password(http: &Http, request: &OwnerPassword) -> Result<(), Failure> {
    http.call_for_status(Call::post(format!("{PREFIX}/auth/local/password")).json(request)).await
}
