//! Operations: one request for many devices, and its outcome for each.

use std::sync::Arc;

use axum::{
    Json as Answer,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
};
use link_protocol::{
    agent_api::PREFIX,
    backend_api::{
        Page, PageRequest,
        operation::{
            CreateOperation, Operation, OperationDevice, OperationDevicesQuery, OperationPlan,
        },
    },
    id::{DeviceId, OperationId},
};

use crate::{
    api::{
        caller::{Caller, may},
        extract::{IdempotencyKey, Ids, Json, Params},
        list,
        problem::Rejection,
    },
    app::{App, operations::Requested},
};

/// Starts an operation on many devices: on those that match a selection now, or on a list of devices. The caller also
/// needs the permission of the request for one device: `deployments:write` to deploy and remove, `serving:operate` to
/// repair, serve and stop, `devices:operate` for everything else.
#[utoipa::path(post, path = "/operations", tag = "operations", security(("access_token" = ["devices:read"])),
    params(("Idempotency-Key" = Option<String>, Header, description = "Identifies the request. A repeated request with the same key creates no second operation.")),
    request_body = CreateOperation,
    responses(
        (status = 200, description = "With `dry_run`: the selected devices.", body = OperationPlan),
        (status = 202, description = "The operation is accepted.", body = Operation,
            headers(("Location" = String, description = "The path of the operation.")))))]
pub(crate) async fn create_operation(
    Caller(caller, ..): Caller<may::ReadDevices>,
    State(app): State<Arc<App>>,
    IdempotencyKey(key): IdempotencyKey,
    Json(wish): Json<CreateOperation>,
) -> Result<Response, Rejection> {
    Ok(match app.create_operation(caller, wish, key).await? {
        Requested::Plan(plan) => Answer(plan).into_response(),
        Requested::Accepted(operation) => {
            let location = format!("{PREFIX}/operations/{}", operation.operation_id);
            let located = [(header::LOCATION, location)];
            (StatusCode::ACCEPTED, located, Answer(operation)).into_response()
        }
    })
}

/// Lists the operations of the account, newest first.
#[utoipa::path(get, path = "/operations", tag = "operations", security(("access_token" = ["devices:read"])),
    params(PageRequest),
    responses((status = 200, description = "The operations.", body = Page<Operation>)))]
pub(crate) async fn list_operations(
    Caller(caller, ..): Caller<may::ReadDevices>,
    State(app): State<Arc<App>>,
    Params(request): Params<PageRequest>,
) -> Result<Answer<Page<Operation>>, Rejection> {
    let wanted = list::wanted::<OperationId>(&request)?;
    let operations = app.operations(caller, &wanted).await?;
    Ok(Answer(list::page(operations, &wanted, |operation| operation.operation_id.to_string())))
}

/// Describes an operation.
#[utoipa::path(get, path = "/operations/{operation_id}", tag = "operations",
    security(("access_token" = ["devices:read"])), params(("operation_id" = OperationId, Path)),
    responses((status = 200, description = "The operation.", body = Operation)))]
pub(crate) async fn read_operation(
    Caller(caller, ..): Caller<may::ReadDevices>,
    State(app): State<Arc<App>>,
    Ids(operation): Ids<OperationId>,
) -> Result<Answer<Operation>, Rejection> {
    let operation = app.operation(caller, operation).await?;
    Ok(Answer(operation))
}

/// Lists the results of an operation on its devices.
#[utoipa::path(get, path = "/operations/{operation_id}/devices", tag = "operations",
    security(("access_token" = ["devices:read"])),
    params(("operation_id" = OperationId, Path), OperationDevicesQuery),
    responses((status = 200, description = "The devices.", body = Page<OperationDevice>)))]
pub(crate) async fn list_operation_devices(
    Caller(caller, ..): Caller<may::ReadDevices>,
    State(app): State<Arc<App>>,
    Ids(operation): Ids<OperationId>,
    Params(query): Params<OperationDevicesQuery>,
) -> Result<Answer<Page<OperationDevice>>, Rejection> {
    let wanted =
        list::wanted::<DeviceId>(&PageRequest { limit: query.limit, cursor: query.cursor })?;
    let devices = app.operation_devices(caller, operation, query.state, &wanted).await?;
    Ok(Answer(list::page(devices, &wanted, |device| device.device_id.to_string())))
}

/// Cancels an operation: it sends no further command. Devices whose command was sent continue, offline ones when they are
/// back, and the operation still reports their results. The caller also needs the permission of the request for one device.
#[utoipa::path(post, path = "/operations/{operation_id}/cancel", tag = "operations",
    security(("access_token" = ["devices:read"])), params(("operation_id" = OperationId, Path)),
    responses((status = 202, description = "The operation is sent to no further device.", body = Operation)))]
pub(crate) async fn cancel_operation(
    Caller(caller, ..): Caller<may::ReadDevices>,
    State(app): State<Arc<App>>,
    Ids(operation): Ids<OperationId>,
) -> Result<(StatusCode, Answer<Operation>), Rejection> {
    let operation = app.cancel_operation(caller, operation).await?;
    Ok((StatusCode::ACCEPTED, Answer(operation)))
}

/// Retries an operation on the devices that have failed, in the name of the caller. The caller also needs the
/// permission of the request for one device.
#[utoipa::path(post, path = "/operations/{operation_id}/retry", tag = "operations",
    security(("access_token" = ["devices:read"])), params(("operation_id" = OperationId, Path)),
    responses((status = 202, description = "The operation is retried on the failed devices.", body = Operation)))]
pub(crate) async fn retry_operation(
    Caller(caller, ..): Caller<may::ReadDevices>,
    State(app): State<Arc<App>>,
    Ids(operation): Ids<OperationId>,
) -> Result<(StatusCode, Answer<Operation>), Rejection> {
    let operation = app.retry_operation(caller, operation).await?;
    Ok((StatusCode::ACCEPTED, Answer(operation)))
}
