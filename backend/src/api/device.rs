//! Devices, as their owner sees them.

use std::sync::Arc;

use axum::{
    Json as Answer,
    extract::{Request, State},
    http::StatusCode,
};
use link_protocol::{
    backend_api::{
        Page, PageRequest,
        command::CommandInfo,
        device::{ChangeDevice, Device, DeviceQuery, DeviceSort, TransferDevice, UpdateDevice},
    },
    id::DeviceId,
    selector::Selector,
};

use crate::{
    api::{
        caller::{Caller, may},
        command::{Accepted, accepted},
        extract::{IdempotencyKey, Ids, Json, Params, read_json},
        list,
        problem::Rejection,
        registration::mistyped,
    },
    app::{App, DeviceList},
    domain::refusal::Refusal,
};

/// Lists the devices of the account, the newest first unless `sort` says otherwise. A page of a selection may have fewer items than requested; only the
/// last page has no `next_cursor`.
#[utoipa::path(get, path = "/devices", tag = "device", security(("access_token" = ["devices:read"])),
    params(DeviceQuery),
    responses((status = 200, description = "The devices.", body = Page<Device>)))]
pub(crate) async fn list_devices(
    Caller(caller, ..): Caller<may::ReadDevices>,
    State(app): State<Arc<App>>,
    Params(query): Params<DeviceQuery>,
) -> Result<Answer<Page<Device>>, Rejection> {
    let wanted = list::wanted::<String>(&PageRequest { limit: query.limit, cursor: query.cursor })?;
    let asked = asked(query.select.as_deref(), query.q, query.sort)?;
    let devices = app.devices(caller, &asked, &wanted).await?;
    Ok(Answer(list::part(devices)))
}

/// Reads which devices are listed, and in which order.
pub(super) fn asked(
    select: Option<&str>,
    q: Option<String>,
    sort: DeviceSort,
) -> Result<DeviceList, Refusal> {
    let selector = select.map(str::parse::<Selector>).transpose();
    let selector = selector.map_err(|fault| Refusal::invalid(format!("select: {fault}")))?;
    Ok(DeviceList { selector, q: list::searched(q)?, sort })
}

/// Describes a device.
#[utoipa::path(get, path = "/devices/{device_id}", tag = "device",
    security(("access_token" = ["devices:read"])), params(("device_id" = DeviceId, Path)),
    responses((status = 200, description = "The device.", body = Device)))]
pub(crate) async fn read_device(
    Caller(caller, ..): Caller<may::ReadDevices>,
    State(app): State<Arc<App>>,
    Ids(device): Ids<DeviceId>,
) -> Result<Answer<Device>, Rejection> {
    let device = app.device(caller, device).await?;
    Ok(Answer(device))
}

/// Adds and removes tags of a device, and renames it.
#[utoipa::path(patch, path = "/devices/{device_id}", tag = "device",
    security(("access_token" = ["devices:operate"])), params(("device_id" = DeviceId, Path)),
    request_body = ChangeDevice,
    responses((status = 200, description = "The device.", body = Device)))]
pub(crate) async fn change_device(
    Caller(caller, ..): Caller<may::OperateDevices>,
    State(app): State<Arc<App>>,
    Ids(device): Ids<DeviceId>,
    Json(change): Json<ChangeDevice>,
) -> Result<Answer<Device>, Rejection> {
    let device = app.change_device(caller, device, change).await?;
    Ok(Answer(device))
}

/// Updates the agent of a device to another version. An offline device updates when it is back online. A newer request
/// replaces a request that the device has not acknowledged.
#[utoipa::path(post, path = "/devices/{device_id}/update", tag = "device",
    security(("access_token" = ["devices:operate"])),
    params(("device_id" = DeviceId, Path),
        ("Idempotency-Key" = Option<String>, Header, description = "Identifies the request. A repeated request with the same key causes no second update.")),
    request_body = UpdateDevice,
    responses((status = 202, description = "The command is sent. It succeeds once the version is verified and takes over; later, `last_update` of the device shows whether the version stayed.", body = CommandInfo,
        headers(("Location" = String, description = "The path of the command.")))))]
pub(crate) async fn update_device(
    Caller(caller, ..): Caller<may::OperateDevices>,
    State(app): State<Arc<App>>,
    Ids(device): Ids<DeviceId>,
    IdempotencyKey(key): IdempotencyKey,
    Json(wish): Json<UpdateDevice>,
) -> Result<Accepted, Rejection> {
    let command = app.update_device(caller, device, wish, key).await?;
    Ok(accepted(command))
}

/// Removes a device from the account. Its slot is free, and its agent is refused from then on.
#[utoipa::path(delete, path = "/devices/{device_id}", tag = "device",
    security(("access_token" = ["devices:write"])), params(("device_id" = DeviceId, Path)),
    responses((status = 204, description = "The device is removed.")))]
pub(crate) async fn remove_device(
    Caller(caller, ..): Caller<may::WriteDevices>,
    State(app): State<Arc<App>>,
    Ids(device): Ids<DeviceId>,
) -> Result<StatusCode, Rejection> {
    app.remove_device(caller, device).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Transfers the device to the account of the given key. Everything that belongs to the device leaves this account. At its
/// next hello, the device drops its models and starts empty in the new account. A registration key is used up.
#[utoipa::path(post, path = "/devices/{device_id}/transfer", tag = "device",
    security(("access_token" = ["devices:write"])), params(("device_id" = DeviceId, Path)),
    request_body = TransferDevice,
    responses((status = 204, description = "The device belongs to the other account.")))]
pub(crate) async fn transfer_device(
    Caller(caller, ..): Caller<may::WriteDevices>,
    State(app): State<Arc<App>>,
    Ids(device): Ids<DeviceId>,
    request: Request,
) -> Result<StatusCode, Rejection> {
    let wish = read_json::<TransferDevice>(request).await.map_err(mistyped)?;
    app.transfer_device(caller, device, wish).await?;
    Ok(StatusCode::NO_CONTENT)
}
