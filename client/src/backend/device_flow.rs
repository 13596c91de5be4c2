//! Logins that a person approves in a browser, perhaps on another machine (RFC 8628).

use link_protocol::{
    agent_api::PREFIX,
    backend_api::{
        account::TokenResponse,
        device_flow::{DeviceCodeRequest, DeviceCodeResponse, DeviceTokenRequest},
    },
};

use crate::{
    backend::Tokens,
    http::{Call, Failure, Http},
};

/// Requests the codes with which a person approves this login.
///
/// # Errors
/// [`Failure`] if the backend refuses or does not answer.
pub async fn begin_device_login(
    http: &Http,
    request: &DeviceCodeRequest,
) -> Result<DeviceCodeResponse, Failure> {
    http.call(Call::post(format!("{PREFIX}/auth/device/code")).json(request)).await
}

/// Polls for the decision of the person. Returns the tokens once the login is approved.
///
/// # Errors
/// [`Failure`]. Its code is `authorization-pending` or `slow-down` until the person has decided.
pub async fn poll_device_login(
    http: &Http,
    request: &DeviceTokenRequest,
) -> Result<Tokens, Failure> {
    let call = Call::post(format!("{PREFIX}/auth/device/token")).json(request);
    http.call::<TokenResponse>(call).await.map(Tokens::from)
}
