//! `register-with-key` (specification, section 4.3), and the retire code that undoes it.

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

/// Registers a device with a key, or wakes its record up again. The key alone suffices; an access
/// token that comes along must be one of the key's account.
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

/// Removes the device that signed the code; its slot is free. The code alone suffices. A code of a
/// device that is gone, never was, or did not sign it gets one and the same answer.
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

/// A key that is not one has a problem of its own.
pub(super) fn mistyped(error: JsonError) -> Rejection {
    let is_key = matches!(error.path.as_str(), "registration_key" | "fleet_key");
    if is_key && error.rejection.problem.code == Code::InvalidRequest.as_str() {
        Rejection::new(Code::KeyMistyped, error.rejection.problem.detail)
    } else {
        error.rejection
    }
}
