//! What became of a command that was sent to a device.

use link_client::backend::BackendClient;
use link_protocol::{
    backend_api::command::{CommandInfo, CommandState},
    report::CommandResult,
};

use crate::{
    context::Context,
    error::CliError,
    exit_code::ExitCode,
    progress::Progress,
    wait::{self, Deadline},
};

/// Waits for the device's result and prints it; without `wait` prints that the command was sent.
///
/// # Errors
/// When the device failed or refused, the command expired, or the deadline passed.
pub(super) async fn report(
    context: &Context,
    backend: &BackendClient,
    sent: CommandInfo,
    what: &str,
    patience: Option<std::time::Duration>,
) -> Result<(), CliError> {
    let Some(patience) = patience else {
        context.output.say(&format!("asked the device to {what}"));
        return context.output.data(&sent, |sent| sent.command_id.to_string());
    };
    let ended = wait_for(context, backend, sent, what, Deadline::after(patience)).await?;
    let outcome = ended.result.as_ref().map(|result| (result.status, result.output.clone()));
    match outcome {
        Some((CommandResult::Succeeded, output)) => {
            let text = if output.is_empty() { format!("done: {what}") } else { output };
            context.output.say(&text);
            context.output.data(&ended, |_| String::new())
        }
        Some((status, output)) => {
            let why = if output.is_empty() { String::new() } else { format!(": {output}") };
            let message = format!("the device could not {what} ({status}){why}");
            Err(CliError::new(ExitCode::Failed, code(status), message)
                .hint("`link status` on the device shows more"))
        }
        None => {
            let message =
                format!("the device did not {what}: the command expired or was superseded");
            Err(CliError::new(ExitCode::Failed, "expired", message).hint("send it again"))
        }
    }
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
            CommandState::Processed | CommandState::Expired => "the device works on it",
        };
        progress.show(&format!("{what}: {stage}"), 0, 0);
        if !deadline.pause(asked_for.take()).await {
            return Err(deadline.gave_up(&format!("{what}: {stage} ({})", last.command_id)));
        }
        match wait::tolerate(backend.command(last.command_id).await)? {
            Ok(info) => last = info,
            Err(retry_after) => asked_for = retry_after,
        }
    }
}

const fn code(status: CommandResult) -> &'static str {
    match status {
        CommandResult::Succeeded => "succeeded",
        CommandResult::Failed => "command-failed",
        CommandResult::Rejected => "command-rejected",
        CommandResult::Cancelled => "command-cancelled",
    }
}
