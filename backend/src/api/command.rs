//! Commands: what became of them.

use std::{sync::Arc, time::Duration};

use axum::{
    Json as Answer,
    extract::State,
    http::{HeaderName, StatusCode, header},
};
use link_protocol::{agent_api::PREFIX, backend_api::command::CommandInfo, id::CommandId};
use serde::Deserialize;

use crate::{
    api::{
        caller::{Caller, may},
        extract::{Ids, Params},
        problem::Rejection,
    },
    app::App,
    domain::refusal::Refusal,
};

const LONGEST_WAIT_S: u64 = 30;

/// The answer to a wish that is sent: the command, and where to follow it.
pub(crate) type Accepted = (StatusCode, [(HeaderName, String); 1], Answer<CommandInfo>);

/// How long to wait for a result.
#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct WaitParams {
    /// Answer as soon as the command has ended, or after this many seconds.
    #[param(minimum = 0, maximum = 30, default = 0)]
    wait: Option<u64>,
}

/// Describes a command, and its result once the device has reported one.
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
