//! Devices as their owner sees them.

use std::sync::Arc;

use axum::{Json as Answer, extract::State, http::StatusCode};
use link_protocol::{
    backend_api::{Page, PageRequest, device::Device},
    id::DeviceId,
};

use crate::{
    api::{
        extract::{Caller, Ids, Params},
        list,
        problem::Rejection,
    },
    app::App,
};

/// Lists the devices of the account, the newest first.
#[utoipa::path(get, path = "/devices", tag = "device", security(("access_token" = [])),
    params(PageRequest),
    responses((status = 200, description = "The devices.", body = Page<Device>)))]
pub(crate) async fn list_devices(
    Caller(caller): Caller,
    State(app): State<Arc<App>>,
    Params(request): Params<PageRequest>,
) -> Result<Answer<Page<Device>>, Rejection> {
    let wanted = list::wanted(&request)?;
    let devices = app.devices(caller, &wanted).await?;
    Ok(Answer(list::page(devices, &wanted, |device| device.device_id.to_string())))
}

/// Describes a device.
#[utoipa::path(get, path = "/devices/{device_id}", tag = "device",
    security(("access_token" = [])), params(("device_id" = DeviceId, Path)),
    responses((status = 200, description = "The device.", body = Device)))]
pub(crate) async fn read_device(
    Caller(caller): Caller,
    State(app): State<Arc<App>>,
    Ids(device): Ids<DeviceId>,
) -> Result<Answer<Device>, Rejection> {
    let device = app.device(caller, device).await?;
    Ok(Answer(device))
}

/// Removes a device from the account; its slot is free, and its agent is refused from now on.
#[utoipa::path(delete, path = "/devices/{device_id}", tag = "device",
    security(("access_token" = [])), params(("device_id" = DeviceId, Path)),
    responses((status = 204, description = "The device is removed.")))]
pub(crate) async fn remove_device(
    Caller(caller): Caller,
    State(app): State<Arc<App>>,
    Ids(device): Ids<DeviceId>,
) -> Result<StatusCode, Rejection> {
    app.remove_device(caller, device).await?;
    Ok(StatusCode::NO_CONTENT)
}
