//! A login on one machine through a browser on another (RFC 8628).

use std::sync::Arc;

use axum::{
    Json as Answer,
    extract::State,
    http::{HeaderMap, StatusCode, header},
};
use link_protocol::backend_api::{
    account::TokenResponse,
    device_flow::{
        DecideDevice, DeviceCodeRequest, DeviceCodeResponse, DeviceTokenRequest, InquireDevice,
        PendingDevice,
    },
};

use crate::{
    api::{
        caller::{Caller, may},
        extract::Json,
        peer::{By, From},
        problem::Rejection,
        query::KnownQuery,
    },
    app::App,
    domain::refusal::Refusal,
};

/// Begins a login that a person approves with the user code on the page `/device`.
#[utoipa::path(post, path = "/auth/device/code", tag = "account",
    request_body = DeviceCodeRequest,
    responses((status = 200, description = "The codes.", body = DeviceCodeResponse)))]
pub(crate) async fn begin_device_login(
    _: KnownQuery,
    From(peer): From,
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Json(request): Json<DeviceCodeRequest>,
) -> Result<Answer<DeviceCodeResponse>, Rejection> {
    let base = match app.public_url() {
        Some(url) => url.to_owned(),
        None => asked_at(&headers)?,
    };
    let codes = app.begin_device_login(peer, &base, request).await?;
    Ok(Answer(codes))
}

/// Returns the tokens of an approved login, once. Before the approval, the answer is `authorization-pending`, or
/// `slow-down` for a caller that polls faster than the interval.
#[utoipa::path(post, path = "/auth/device/token", tag = "account",
    request_body = DeviceTokenRequest,
    responses((status = 200, description = "Logged in.", body = TokenResponse)))]
pub(crate) async fn poll_device_login(
    _: KnownQuery,
    From(peer): From,
    By(program): By,
    State(app): State<Arc<App>>,
    Json(request): Json<DeviceTokenRequest>,
) -> Result<Answer<TokenResponse>, Rejection> {
    let tokens = app.poll_device_login(peer, program, request).await?;
    Ok(Answer(tokens))
}

/// Describes the pending login of a user code. At most ten such requests and decisions per minute are answered.
#[utoipa::path(post, path = "/auth/device/inquire", tag = "account",
    security(("access_token" = ["login"])), request_body = InquireDevice,
    responses((status = 200, description = "The pending login.", body = PendingDevice)))]
pub(crate) async fn inquire_device_login(
    Caller(caller, ..): Caller<may::ActInPerson>,
    State(app): State<Arc<App>>,
    Json(request): Json<InquireDevice>,
) -> Result<Answer<PendingDevice>, Rejection> {
    let pending = app.inquire_device_login(caller, request).await?;
    Ok(Answer(pending))
}

/// Approves or refuses the pending login of a user code. An approved machine acts as the caller in the account.
#[utoipa::path(post, path = "/auth/device/decide", tag = "account",
    security(("access_token" = ["login"])), request_body = DecideDevice,
    responses((status = 204, description = "The decision is stored.")))]
pub(crate) async fn decide_device_login(
    Caller(caller, ..): Caller<may::ActInPerson>,
    State(app): State<Arc<App>>,
    Json(request): Json<DecideDevice>,
) -> Result<StatusCode, Rejection> {
    app.decide_device_login(caller, request).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Returns the address to which this request was sent, for a backend without a configured address.
fn asked_at(headers: &HeaderMap) -> Result<String, Refusal> {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let is_host = |c: char| c.is_ascii_alphanumeric() || ".-:[]".contains(c);
    let host = host.filter(|host| !host.is_empty() && host.chars().all(is_host));
    host.map(|host| format!("http://{host}"))
        .ok_or_else(|| Refusal::invalid("Host: is the address of this backend"))
}
