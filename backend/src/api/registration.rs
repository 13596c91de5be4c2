//! `register-with-key` (specification, section 4.3), and the retire code, which removes a registered device.

use std::sync::Arc;

use axum::{
    Json as Answer,
    extract::{Request, State},
    http::StatusCode,
};
use link_protocol::{
    problem::Code,
    registration::{RegisterRequest, Registered},
    retire::RetireRequest,
};

use crate::{
    api::{
        caller::MaybeCaller,
        extract::{Json, JsonError, read_json},
        peer::From,
        problem::Rejection,
        query::KnownQuery,
    },
    app::App,
};

/// Registers a device with a key, or restores the record of a device that was registered before. The key is sufficient; an
/// access token in the request must belong to the key's account.
#[utoipa::path(post, path = "/devices/register-with-key", tag = "device",
    security((), ("access_token" = [])), request_body = RegisterRequest,
    responses((status = 201, description = "The device is registered.", body = Registered)))]
pub(crate) async fn register_with_key(
    _: KnownQuery,
    MaybeCaller(caller): MaybeCaller,
    From(peer): From,
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<(StatusCode, Answer<Registered>), Rejection> {
    let request = read_json::<RegisterRequest>(request).await.map_err(mistyped)?;
    let registered = app.register(peer, caller, request).await?;
    Ok((StatusCode::CREATED, Answer(registered)))
}

/// Removes the device that signed the code, which frees its slot. The code is sufficient. The answer is the same for a
/// removed device, an unknown device and a wrong signature.
#[utoipa::path(post, path = "/devices/retire", tag = "device", request_body = RetireRequest,
    responses((status = 204, description = "The device is removed.")))]
pub(crate) async fn retire_device(
    _: KnownQuery,
    State(app): State<Arc<App>>,
    Json(request): Json<RetireRequest>,
) -> Result<StatusCode, Rejection> {
    app.retire(request).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Returns the rejection of a body. A malformed key has its own problem code.
pub(super) fn mistyped(error: JsonError) -> Rejection {
    let is_key = matches!(error.path.as_str(), "registration_key" | "fleet_key");
    if is_key && error.rejection.problem.code == Code::InvalidRequest.as_str() {
        Rejection::new(Code::KeyMistyped, error.rejection.problem.detail)
    } else {
        error.rejection
    }
}
