//! The outcome of a command that was sent to a device.

use link_client::backend::BackendClient;
use link_protocol::{
    backend_api::command::{CommandInfo, CommandState, OutcomeStatus},
    exit_code::ExitCode,
};

use crate::{
    context::Context,
    error::CliError,
    error_code::ErrorCode,
    progress::Progress,
    wait::{self, Deadline},
};

/// Waits for the device's result and prints it. Without `wait`, prints that the command was sent.
///
/// # Errors
/// If the device failed or refused, the command expired, or the deadline passed.
pub(super) async fn report(
    context: &Context,
    backend: &BackendClient,
    sent: CommandInfo,
    what: &str,
    patience: Option<std::time::Duration>,
) -> Result<(), CliError> {
    if let Some(note) = &sent.note {
        context.output.say(note);
    }
    let Some(patience) = patience else {
        context.output.say(&format!("asked the device to {what}"));
        return context.output.data(&sent, |sent| sent.command_id.to_string());
    };
    let ended = done(context, backend, sent, what, Deadline::after(patience)).await?;
    let output = ended.result.as_ref().map(|result| result.output.clone()).unwrap_or_default();
    let text = if output.is_empty() { format!("done: {what}") } else { output };
    let newer = ended.superseded_by.map(|newer| {
        format!(
            "\na newer command, {newer}, has replaced this one: `link commands explain {newer}`"
        )
    });
    context.output.say(&format!("{text}{}", newer.unwrap_or_default()));
    context.output.data(&ended, |_| String::new())
}

/// Waits until the device has finished.
///
/// # Errors
/// If the device failed or refused, the command expired, or the deadline passed.
pub(super) async fn done(
    context: &Context,
    backend: &BackendClient,
    sent: CommandInfo,
    what: &str,
    deadline: Deadline,
) -> Result<CommandInfo, CliError> {
    let hint = format!("to see its outcome, run `link commands explain {}`", sent.command_id);
    let work = wait_for(context, backend, sent, what, deadline);
    let ended = wait::unless_interrupted(work, "the command", &hint).await?;
    let Some(result) = &ended.result else {
        let message = format!("the device did not {what}: the command expired");
        return Err(CliError::new(ExitCode::Failed, ErrorCode::Expired, message)
            .hint("run the command again when the device is online"));
    };
    let (status, output) = (result.status, &result.output);
    let code = match status {
        OutcomeStatus::Succeeded => return Ok(ended),
        OutcomeStatus::Superseded => return Err(superseded(&ended, what)),
        OutcomeStatus::Failed => ErrorCode::CommandFailed,
        OutcomeStatus::Rejected => ErrorCode::CommandRejected,
        OutcomeStatus::Cancelled => ErrorCode::CommandCancelled,
    };
    let why = if output.is_empty() { String::new() } else { format!(": {output}") };
    let message = format!("the device could not {what} ({status}){why}");
    Err(CliError::new(ExitCode::Failed, code, message)
        .hint("`link status` on the device has details"))
}

/// Returns the error for a command that a newer command has replaced. Retrying it would undo the
/// newer one.
pub(super) fn superseded(command: &CommandInfo, what: &str) -> CliError {
    let newer = command.superseded_by.map(|newer| newer.to_string()).unwrap_or_default();
    let message = format!("a newer command, {newer}, replaced this one: {what}");
    CliError::new(ExitCode::Failed, ErrorCode::Superseded, message)
        .hint(format!("the newer command applies: `link commands explain {newer}`"))
}

async fn wait_for(
    context: &Context,
    backend: &BackendClient,
    sent: CommandInfo,
    what: &str,
    deadline: Deadline,
) -> Result<CommandInfo, CliError> {
    let progress = Progress::start(context.output);
    let mut last = sent;
    let mut asked_for = None;
    loop {
        if last.result.is_some() || last.state == CommandState::Expired {
            return Ok(last);
        }
        let stage = match last.state {
            CommandState::Sent => "waiting for the device",
            CommandState::Processed | CommandState::Expired => "the device is working",
        };
        progress.show(&format!("{what}: {stage}"), 0, 0);
        if !deadline.pause(asked_for.take()).await {
            let hint =
                format!("the command goes on; see `link commands explain {}`", last.command_id);
            return Err(deadline.gave_up(&format!("{what}: {stage}")).hint(hint));
        }
        match wait::tolerate(backend.command(last.command_id).await)? {
            Ok(info) => last = info,
            Err(retry_after) => asked_for = retry_after,
        }
    }
}
