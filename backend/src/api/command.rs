//! Commands and their results.

use std::{sync::Arc, time::Duration};

use axum::{
    Json as Answer,
    extract::State,
    http::{HeaderName, StatusCode, header},
};
use link_protocol::{
    agent_api::PREFIX,
    backend_api::{
        Page, PageRequest,
        command::{CommandExplanation, CommandInfo},
    },
    command::CommandKind,
    id::{CommandId, DeviceId},
};
use serde::Deserialize;

use crate::{
    api::{
        caller::{Caller, may},
        extract::{Ids, Params, device_id},
        list,
        problem::Rejection,
    },
    app::App,
    domain::refusal::Refusal,
    tables::CommandFilter,
};

const LONGEST_WAIT_S: u64 = 30;

/// The answer to a request that sends a command: the command's id and address.
pub(crate) type Accepted = (StatusCode, [(HeaderName, String); 1], Answer<CommandInfo>);

/// How long to wait for a result.
#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct WaitParams {
    /// Wait until the command has ended, at most this many seconds.
    #[param(minimum = 0, maximum = 30, default = 0)]
    wait: Option<u64>,
}

/// Describes a command and, once the device has reported it, its result.
#[utoipa::path(get, path = "/commands/{command_id}", tag = "serving",
    security(("access_token" = ["commands:read"])), params(("command_id" = CommandId, Path), WaitParams),
    responses((status = 200, description = "The command.", body = CommandInfo)))]
pub(crate) async fn read_command(
    Caller(caller, ..): Caller<may::ReadCommands>,
    State(app): State<Arc<App>>,
    Params(params): Params<WaitParams>,
    Ids(command): Ids<CommandId>,
) -> Result<Answer<CommandInfo>, Rejection> {
    let wait = wait(&params)?;
    let command = app.command(caller, command, wait).await?;
    Ok(Answer(command))
}

/// The filter of a list of commands.
#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct CommandParams {
    /// Only commands to this device.
    #[param(value_type = Option<DeviceId>)]
    device_id: Option<String>,
    /// Only commands that have not ended.
    open: Option<bool>,
    /// Only commands of this type.
    r#type: Option<CommandKind>,
    /// Items of a page: 1 to 200.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
    /// The `next_cursor` of the previous page.
    cursor: Option<String>,
}

/// Lists the commands to the account's devices, newest first.
#[utoipa::path(get, path = "/commands", tag = "serving",
    security(("access_token" = ["commands:read"])), params(CommandParams),
    responses((status = 200, description = "The commands.", body = Page<CommandInfo>)))]
pub(crate) async fn list_commands(
    Caller(caller, ..): Caller<may::ReadCommands>,
    State(app): State<Arc<App>>,
    Params(params): Params<CommandParams>,
) -> Result<Answer<Page<CommandInfo>>, Rejection> {
    let wanted =
        list::wanted::<CommandId>(&PageRequest { limit: params.limit, cursor: params.cursor })?;
    let device = params.device_id.as_deref().map(device_id).transpose()?;
    let filter = CommandFilter { device, open: params.open.unwrap_or(false), kind: params.r#type };
    let commands = app.commands(caller, filter, &wanted).await?;
    Ok(Answer(list::page(commands, &wanted, cursor)))
}

/// Returns the place of a command in the list.
pub(super) fn cursor(command: &CommandInfo) -> String {
    command.command_id.to_string()
}

/// Explains in plain words the state of a command, its cause, and what happens next.
#[utoipa::path(get, path = "/commands/{command_id}/explanation", tag = "serving",
    security(("access_token" = ["commands:read"])), params(("command_id" = CommandId, Path)),
    responses((status = 200, description = "The explanation.", body = CommandExplanation)))]
pub(crate) async fn explain_command(
    Caller(caller, ..): Caller<may::ReadCommands>,
    State(app): State<Arc<App>>,
    Ids(command): Ids<CommandId>,
) -> Result<Answer<CommandExplanation>, Rejection> {
    let explanation = app.explain_command(caller, command).await?;
    Ok(Answer(explanation))
}

/// Answers with a command that was sent.
pub(crate) fn accepted(command: CommandInfo) -> Accepted {
    let location = format!("{PREFIX}/commands/{}", command.command_id);
    (StatusCode::ACCEPTED, [(header::LOCATION, location)], Answer(command))
}

fn wait(params: &WaitParams) -> Result<Duration, Refusal> {
    let seconds = params.wait.unwrap_or(0);
    if seconds > LONGEST_WAIT_S {
        return Err(Refusal::invalid(format!("wait: is at most {LONGEST_WAIT_S} seconds")));
    }
    Ok(Duration::from_secs(seconds))
}
