//! Reports of devices (specification, sections 4.3 and 6).

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use link_protocol::{
    id::{CommandId, DeviceId, ModelId},
    report::{
        CommandReport, LifecycleReport, LogRecord, ModelReport, ProgressReport, TelemetryReport,
    },
    system::SystemReport,
};

use crate::{
    api::{
        extract::{Ids, Json, PathDevice, TokenDevice},
        problem::Rejection,
    },
    app::App,
};

/// Reports the result of a command. Only the first result counts.
#[utoipa::path(post, path = "/agent/{device_id}/commands/{command_id}/status", tag = "agent",
    security(("device_token" = [])),
    params(("device_id" = DeviceId, Path), ("command_id" = CommandId, Path)),
    request_body = CommandReport,
    responses((status = 204, description = "The report is accepted.")))]
pub(crate) async fn report_command(
    PathDevice(device): PathDevice,
    State(app): State<Arc<App>>,
    Ids((_device, command)): Ids<(DeviceId, CommandId)>,
    Json(report): Json<CommandReport>,
) -> Result<StatusCode, Rejection> {
    app.report_command(&device, command, report).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Reports the lifecycle of the agent, with its version.
#[utoipa::path(put, path = "/agent/{device_id}/status", tag = "agent",
    security(("device_token" = [])), params(("device_id" = DeviceId, Path)),
    request_body = LifecycleReport,
    responses((status = 204, description = "The report is accepted.")))]
pub(crate) async fn report_lifecycle(
    PathDevice(device): PathDevice,
    State(app): State<Arc<App>>,
    Json(report): Json<LifecycleReport>,
) -> Result<StatusCode, Rejection> {
    app.report_lifecycle(&device, report).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Reports the state of a model. An older generation never replaces a newer one.
#[utoipa::path(post, path = "/agent/{device_id}/models/{model_id}/status", tag = "agent",
    security(("device_token" = [])),
    params(("device_id" = DeviceId, Path), ("model_id" = ModelId, Path)),
    request_body = ModelReport,
    responses((status = 204, description = "The report is accepted.")))]
pub(crate) async fn report_model(
    PathDevice(device): PathDevice,
    State(app): State<Arc<App>>,
    Ids((_device, model)): Ids<(DeviceId, ModelId)>,
    Json(report): Json<ModelReport>,
) -> Result<StatusCode, Rejection> {
    app.report_model(&device, model, report).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Reports the progress of a deployment, in steps of 5 %. Late reports are ignored.
#[utoipa::path(post, path = "/agent/{device_id}/models/{model_id}/deployment", tag = "agent",
    security(("device_token" = [])),
    params(("device_id" = DeviceId, Path), ("model_id" = ModelId, Path)),
    request_body = ProgressReport,
    responses((status = 204, description = "The report is accepted.")))]
pub(crate) async fn report_progress(
    PathDevice(device): PathDevice,
    State(app): State<Arc<App>>,
    Ids((_device, model)): Ids<(DeviceId, ModelId)>,
    Json(report): Json<ProgressReport>,
) -> Result<StatusCode, Rejection> {
    app.report_progress(&device, model, report).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Reports the token usage of one inference.
#[utoipa::path(post, path = "/agent/{device_id}/models/{model_id}/telemetry", tag = "agent",
    security(("device_token" = [])),
    params(("device_id" = DeviceId, Path), ("model_id" = ModelId, Path)),
    request_body = TelemetryReport,
    responses((status = 204, description = "The report is accepted.")))]
pub(crate) async fn report_telemetry(
    PathDevice(device): PathDevice,
    State(app): State<Arc<App>>,
    Ids((_device, model)): Ids<(DeviceId, ModelId)>,
    Json(report): Json<TelemetryReport>,
) -> Result<StatusCode, Rejection> {
    app.report_telemetry(&device, model, report).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Reports the load of the device. The latest sample is kept as it is, and each counts in the metrics of the device, at
/// most one in 10 seconds. Long lists and names are truncated.
#[utoipa::path(post, path = "/agent/{device_id}/system", tag = "agent",
    security(("device_token" = [])), params(("device_id" = DeviceId, Path)),
    request_body = SystemReport,
    responses((status = 204, description = "The report is accepted.")))]
pub(crate) async fn report_system(
    PathDevice(device): PathDevice,
    State(app): State<Arc<App>>,
    Json(report): Json<SystemReport>,
) -> Result<StatusCode, Rejection> {
    app.report_system(&device, report).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Sends a log record of the device of the token.
#[utoipa::path(post, path = "/logs", tag = "agent", security(("device_token" = [])),
    request_body = LogRecord,
    responses((status = 204, description = "The report is accepted.")))]
pub(crate) async fn report_log(
    TokenDevice(device): TokenDevice,
    State(app): State<Arc<App>>,
    Json(record): Json<LogRecord>,
) -> Result<StatusCode, Rejection> {
    app.report_log(&device, record).await?;
    Ok(StatusCode::NO_CONTENT)
}
