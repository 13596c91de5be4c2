//! The log records of a device.

use std::sync::Arc;

use axum::{Json as Answer, extract::State};
use link_protocol::{
    backend_api::{
        Page, PageRequest,
        device_log::{DeviceLog, DeviceLogQuery},
    },
    id::{DeviceId, ModelId},
};

use crate::{
    api::{
        caller::{Caller, may},
        extract::{Ids, Params},
        list,
        problem::Rejection,
    },
    app::App,
    domain::{device_log::LogFilter, refusal::Refusal},
};

/// Lists the log records of a device, newest first.
#[utoipa::path(get, path = "/devices/{device_id}/logs", tag = "device",
    security(("access_token" = ["devices:read"])),
    params(("device_id" = DeviceId, Path), DeviceLogQuery),
    responses((status = 200, description = "The records.", body = Page<DeviceLog>)))]
pub(crate) async fn list_device_logs(
    Caller(caller, ..): Caller<may::ReadDevices>,
    State(app): State<Arc<App>>,
    Ids(device): Ids<DeviceId>,
    Params(query): Params<DeviceLogQuery>,
) -> Result<Answer<Page<DeviceLog>>, Rejection> {
    let wanted = list::wanted::<i64>(&PageRequest { limit: query.limit, cursor: query.cursor })?;
    let model = query.model.as_deref().map(str::parse::<ModelId>).transpose();
    let model = model.map_err(|_| Refusal::invalid("model: must be the id of a model"))?;
    let filter = LogFilter { severity: query.severity, model };
    let records = app.device_logs(caller, device, filter, &wanted).await?;
    Ok(Answer(list::page(records, &wanted, |record| record.number.to_string())))
}
