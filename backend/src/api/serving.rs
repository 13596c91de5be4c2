//! Operations on a model on a device (specification, section 4.1).

use std::sync::Arc;

use axum::extract::State;
use link_protocol::{
    backend_api::command::{CommandInfo, PortQuery},
    id::{DeviceId, ModelId},
    port::Port,
};

use crate::{
    api::{
        caller::{Caller, may},
        command::{Accepted, accepted},
        extract::{IdempotencyKey, Ids, Params},
        problem::Rejection,
    },
    app::{App, Requested},
    domain::{claim::Once, refusal::Refusal},
};

/// Restarts the serving pipeline of a model in place, with the current allowlist, on the same port.
#[utoipa::path(post, path = "/models/{model_id}/repair-serving/{device_id}", tag = "serving",
    security(("access_token" = ["serving:operate"])),
    params(("model_id" = ModelId, Path), ("device_id" = DeviceId, Path),
        ("port" = Option<u16>, Query, minimum = 1, maximum = 65535, description = "The new serving port. Absent: the current port."),
        ("Idempotency-Key" = Option<String>, Header, description = "Identifies the request. A repeated request with the same key causes no second repair.")),
    responses((status = 202, description = "The command is sent; it expires after 24 hours without an acknowledgement.", body = CommandInfo,
        headers(("Location" = String, description = "The path of the command.")))))]
pub(crate) async fn repair_serving(
    Caller(caller, ..): Caller<may::OperateServing>,
    State(app): State<Arc<App>>,
    Params(query): Params<PortQuery>,
    Ids((model, device)): Ids<(ModelId, DeviceId)>,
    IdempotencyKey(key): IdempotencyKey,
) -> Result<Accepted, Rejection> {
    let port = port(&query)?;
    let command = app.repair(Requested { caller, model, device }, port, key).await?;
    Ok(accepted(command))
}

/// Starts serving a model. The device must be online.
#[utoipa::path(post, path = "/models/{model_id}/serve/{device_id}", tag = "serving",
    security(("access_token" = ["serving:operate"])),
    params(("model_id" = ModelId, Path), ("device_id" = DeviceId, Path),
        ("port" = Option<u16>, Query, minimum = 1, maximum = 65535, description = "The new serving port. Absent: the current port.")),
    responses((status = 202, description = "The command is sent.", body = CommandInfo,
        headers(("Location" = String, description = "The path of the command.")))))]
pub(crate) async fn serve_model(
    Caller(caller, ..): Caller<may::OperateServing>,
    State(app): State<Arc<App>>,
    Params(query): Params<PortQuery>,
    Ids((model, device)): Ids<(ModelId, DeviceId)>,
) -> Result<Accepted, Rejection> {
    let port = port(&query)?;
    let command = app.serve(Requested { caller, model, device }, port, Once::Never).await?;
    Ok(accepted(command))
}

/// Stops serving a model. An offline device stops when it is back online.
#[utoipa::path(post, path = "/models/{model_id}/stop/{device_id}", tag = "serving",
    security(("access_token" = ["serving:operate"])),
    params(("model_id" = ModelId, Path), ("device_id" = DeviceId, Path)),
    responses((status = 202, description = "The command is sent.", body = CommandInfo,
        headers(("Location" = String, description = "The path of the command.")))))]
pub(crate) async fn stop_model(
    Caller(caller, ..): Caller<may::OperateServing>,
    State(app): State<Arc<App>>,
    Ids((model, device)): Ids<(ModelId, DeviceId)>,
) -> Result<Accepted, Rejection> {
    let command = app.stop(Requested { caller, model, device }, Once::Never).await?;
    Ok(accepted(command))
}

/// Removes a model from a device. An offline device removes it when it is back online.
#[utoipa::path(post, path = "/models/{model_id}/uninstall/{device_id}", tag = "serving",
    security(("access_token" = ["deployments:write"])),
    params(("model_id" = ModelId, Path), ("device_id" = DeviceId, Path)),
    responses((status = 202, description = "The command is sent.", body = CommandInfo,
        headers(("Location" = String, description = "The path of the command.")))))]
pub(crate) async fn uninstall_model(
    Caller(caller, ..): Caller<may::WriteDeployments>,
    State(app): State<Arc<App>>,
    Ids((model, device)): Ids<(ModelId, DeviceId)>,
) -> Result<Accepted, Rejection> {
    let command = app.uninstall(Requested { caller, model, device }, Once::Never).await?;
    Ok(accepted(command))
}

fn port(query: &PortQuery) -> Result<Option<Port>, Refusal> {
    let port = query.port.as_deref().map(str::parse::<Port>).transpose();
    port.map_err(|error| Refusal::invalid(error.to_string()))
}
