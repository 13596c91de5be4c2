//! `register-with-key` (specification, section 4.3).

use std::sync::Arc;

use axum::{
    Json as Answer,
    extract::{Request, State},
    http::StatusCode,
};
use link_protocol::{
    problem::Code,
    registration::{RegisterRequest, Registered},
};

use crate::{
    api::{
        extract::{JsonError, MaybeCaller, read_json},
        problem::Rejection,
    },
    app::App,
};

/// Registers a device with a key, or wakes its record up again. The key alone suffices; an access
/// token that comes along must be one of the key's account.
#[utoipa::path(post, path = "/devices/register-with-key", tag = "device",
    security((), ("access_token" = [])), request_body = RegisterRequest,
    responses((status = 201, description = "The device is registered.", body = Registered)))]
pub(crate) async fn register_with_key(
    MaybeCaller(caller): MaybeCaller,
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<(StatusCode, Answer<Registered>), Rejection> {
    let request = read_json::<RegisterRequest>(request).await.map_err(mistyped)?;
    let registered = app.register(caller, request).await?;
    Ok((StatusCode::CREATED, Answer(registered)))
}

/// A key that is not one has a problem of its own.
fn mistyped(error: JsonError) -> Rejection {
    let is_key = matches!(error.path.as_str(), "registration_key" | "fleet_key");
    if is_key && error.rejection.problem.code == Code::InvalidRequest.as_str() {
        Rejection::new(Code::KeyMistyped, error.rejection.problem.detail)
    } else {
        error.rejection
    }
}
