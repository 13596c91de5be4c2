//! The control plane of a device. Unknown members of a request body are ignored.

use std::{sync::Arc, time::Duration};

use axum::{Json as Answer, extract::State, http::StatusCode};
use link_protocol::{
    agent_api::{Hello, Poll, Welcome},
    counter::Seq,
    envelope::Receipt,
    id::{CommandId, DeviceId},
    limits,
    zenoh::ZenohAccess,
};
use serde::Deserialize;

use crate::{
    api::{
        extract::{AnyPathDevice, Ids, Json, Params, PathDevice},
        problem::Rejection,
    },
    app::App,
};

/// The parameters of a poll for commands.
#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PollParams {
    /// The highest sequence number in the device's journal.
    #[serde(default)]
    #[param(default = 0)]
    #[param(value_type = u64)]
    after: Seq,
    /// Seconds to wait for a command, at most 50.
    #[param(default = 50)]
    wait: Option<u64>,
}

/// Reports the journal and the models of the device. The answer contains the commands that the device lacks, and puts
/// the device online. A device that was transferred to another account and does not know this yet gets only its
/// handover.
#[utoipa::path(post, path = "/agent/{device_id}/hello", tag = "agent",
    security(("device_token" = [])), params(("device_id" = DeviceId, Path)),
    request_body = Hello,
    responses((status = 200, description = "The unfinished commands that the device lacks.", body = Welcome)))]
pub(crate) async fn hello(
    AnyPathDevice(device): AnyPathDevice,
    State(app): State<Arc<App>>,
    Json(hello): Json<Hello>,
) -> Result<Answer<Welcome>, Rejection> {
    let welcome = app.hello(&device, hello).await?;
    Ok(Answer(welcome))
}

/// Waits for commands. An empty answer is a success.
#[utoipa::path(get, path = "/agent/{device_id}/commands", tag = "agent",
    security(("device_token" = [])), params(("device_id" = DeviceId, Path), PollParams),
    responses((status = 200, description = "Signed commands in the order of their sequence numbers; possibly none.", body = Poll)))]
pub(crate) async fn poll_commands(
    PathDevice(device): PathDevice,
    State(app): State<Arc<App>>,
    Params(params): Params<PollParams>,
) -> Result<Answer<Poll>, Rejection> {
    let wait = params.wait.map_or(limits::POLL_WAIT, Duration::from_secs);
    let poll = app.poll(&device, params.after, wait).await?;
    Ok(Answer(poll))
}

/// Acknowledges a delivery, once the command is on the device's disk.
#[utoipa::path(post, path = "/agent/{device_id}/commands/{command_id}/receipt", tag = "agent",
    security(("device_token" = [])),
    params(("device_id" = DeviceId, Path), ("command_id" = CommandId, Path)),
    request_body = Receipt,
    responses((status = 204, description = "The acknowledgement is accepted.")))]
pub(crate) async fn acknowledge_command(
    PathDevice(device): PathDevice,
    State(app): State<Arc<App>>,
    Ids((_device, command)): Ids<(DeviceId, CommandId)>,
    Json(receipt): Json<Receipt>,
) -> Result<StatusCode, Rejection> {
    app.receipt(&device, command, receipt).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Returns the address of the zenoh router and the device's login there. The answer stays the same until the device
/// registers again.
#[utoipa::path(post, path = "/agent/{device_id}/zenoh", tag = "agent",
    security(("device_token" = [])), params(("device_id" = DeviceId, Path)),
    responses((status = 200, description = "The router's endpoints and the device's login.", body = ZenohAccess)))]
pub(crate) async fn open_zenoh(
    AnyPathDevice(device): AnyPathDevice,
    State(app): State<Arc<App>>,
) -> Result<Answer<ZenohAccess>, Rejection> {
    let access = app.zenoh_access(&device).await?;
    Ok(Answer(access))
}

/// Removes the calling device from its account, which frees its slot.
#[utoipa::path(delete, path = "/agent/{device_id}", tag = "agent",
    security(("device_token" = [])), params(("device_id" = DeviceId, Path)),
    responses((status = 204, description = "The device is deregistered.")))]
pub(crate) async fn deregister_device(
    AnyPathDevice(device): AnyPathDevice,
    State(app): State<Arc<App>>,
) -> Result<StatusCode, Rejection> {
    app.deregister(&device).await?;
    Ok(StatusCode::NO_CONTENT)
}
