//! The load of a device over time.

use std::sync::Arc;

use axum::{Json as Answer, extract::State};
use link_protocol::{
    backend_api::metrics::{DeviceMetrics, MetricsQuery},
    id::DeviceId,
};

use crate::{
    api::{
        caller::{Caller, may},
        extract::{Ids, Params},
        problem::Rejection,
    },
    app::App,
};

/// Returns the load of a device over a period that ends now: processors, memory, disk, graphics processors and
/// temperatures. Steps of 10 seconds are kept for an hour, of a minute for a day, and of 15 minutes for 30 days; an
/// answer merges them further so that it has at most 500 points.
#[utoipa::path(get, path = "/devices/{device_id}/metrics", tag = "device",
    security(("access_token" = ["devices:read"])),
    params(("device_id" = DeviceId, Path), MetricsQuery),
    responses((status = 200, description = "The load.", body = DeviceMetrics)))]
pub(crate) async fn read_device_metrics(
    Caller(caller, ..): Caller<may::ReadDevices>,
    State(app): State<Arc<App>>,
    Ids(device): Ids<DeviceId>,
    Params(query): Params<MetricsQuery>,
) -> Result<Answer<DeviceMetrics>, Rejection> {
    Ok(Answer(app.device_metrics(caller, device, query.period).await?))
}
