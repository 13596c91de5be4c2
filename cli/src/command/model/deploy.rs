//! `link model deploy`: creates or replaces a deployment, and shows its progress.

use std::time::Duration;

use link_client::backend::BackendClient;
use link_protocol::{
    backend_api::{
        command::{CommandInfo, CommandState, OutcomeStatus},
        deployment::Deployment,
    },
    deployment::DeploymentState,
    exit_code::ExitCode,
    plugin::Settings,
};

use crate::{
    args::Deploy,
    backend_login,
    command::{
        bulk,
        model::stage::{Stage, stage, wish, work},
    },
    context::{Context, idempotency_key},
    error::CliError,
    error_code::ErrorCode,
    progress::Progress,
    resolve,
    wait::{self, Deadline},
};

pub(super) async fn run(context: &Context, arguments: Deploy) -> Result<(), CliError> {
    let backend = backend_login::logged_in(context)?;
    let model = resolve::model(&backend, &arguments.model).await?;
    let settings = settings(&arguments)?;
    if let Some(selection) = arguments.many.selection() {
        let patience = arguments.wait.wait.then_some(arguments.wait.timeout);
        let work = work(&arguments, &model, settings);
        return bulk::start(context, &backend, selection, work, patience).await;
    }
    let device = resolve::device(context, &backend, arguments.device.as_deref()).await?;
    let request = wish(&arguments, &model, device, settings);
    let created = backend.deploy(&request, &idempotency_key()).await?;
    if !arguments.wait.wait {
        let Deployment { alias, port, .. } = &created;
        let what = resolve::told(&model);
        context.output.say(&format!("deploying {what} to {device} as {alias}, port {port}"));
        return context.output.data(&created, |created| created.deployment_id.to_string());
    }
    if !model.owned {
        context.output.say(&format!("deploying {} to {device}", resolve::told(&model)));
    }
    let awaited = Awaited { is_served: arguments.serve, patience: arguments.wait.timeout };
    let device_option =
        arguments.device.as_ref().map_or_else(String::new, |named| format!(" --device {named}"));
    let hint = format!("to cancel it, run `link model cancel {}{device_option}`", arguments.model);
    let serve = if arguments.serve { " --serve" } else { "" };
    let again = format!("link model deploy {}{device_option}{serve} --wait", arguments.model);
    let work = wait_for(context, &backend, created, awaited, &again);
    let ended = wait::unless_interrupted(work, "the deployment", &hint).await?;
    let served = if arguments.serve { " and serving" } else { "" };
    context.output.say(&format!(
        "deployed {} to {device}{served}: alias {}, port {}",
        resolve::told(&model),
        ended.alias,
        ended.port
    ));
    context.output.data(&ended, |_| String::new())
}

/// Returns the settings that the deployment replaces, or `None` if the settings of the last deployment stay.
fn settings(arguments: &Deploy) -> Result<Option<Settings>, CliError> {
    if arguments.set.is_empty() && !arguments.reset {
        return Ok(None);
    }
    Settings::of(&arguments.set).map(Some).map_err(|refused| {
        CliError::new(ExitCode::Usage, ErrorCode::Usage, refused.to_string())
            .hint("give each setting once, as `--set NAME=VALUE`")
    })
}

/// How far a deployment is waited for.
#[derive(Clone, Copy)]
pub(in crate::command) struct Awaited {
    /// Whether the model has to be served, too.
    pub(in crate::command) is_served: bool,
    pub(in crate::command) patience: Duration,
}

/// Waits for the end of a deployment, and shows the progress. `again` is the command that repeats the deployment.
///
/// # Errors
/// If the deployment fails or the deadline passes.
pub(in crate::command) async fn wait_for(
    context: &Context,
    backend: &BackendClient,
    created: Deployment,
    Awaited { is_served, patience }: Awaited,
    again: &str,
) -> Result<Deployment, CliError> {
    let deadline = Deadline::after(patience);
    let progress = Progress::start(context.output);
    let id = created.deployment_id;
    let mut last = created;
    let mut asked_for = None;
    loop {
        let reached = match stage(&last, is_served) {
            Stage::Done if is_served => {
                served(wait::tolerate(backend.command(last.command_id).await)?)
            }
            reached @ (Stage::Done | Stage::Waiting(_) | Stage::Failed(_)) => reached,
        };
        let stage = match reached {
            Stage::Done => return Ok(last),
            Stage::Failed(why) => {
                let step = next_step(&why, again);
                return Err(CliError::new(ExitCode::Failed, code(last.state), why).hint(step));
            }
            Stage::Waiting(stage) => stage,
        };
        let (done, total) = match last.state {
            DeploymentState::Downloading => (last.progress.bytes_done, last.progress.bytes_total),
            DeploymentState::Queued
            | DeploymentState::Configuring
            | DeploymentState::Completed
            | DeploymentState::Failed
            | DeploymentState::Cancelled => (0, 0),
        };
        progress.show(stage, done, total);
        if !deadline.pause(asked_for.take()).await {
            let model = last.model_name.unwrap_or_else(|| last.model_id.to_string());
            let hint =
                format!("the deployment goes on; `link model show {model}` shows its progress");
            return Err(deadline.gave_up(&format!("the deployment is {stage} ({id})")).hint(hint));
        }
        match wait::tolerate(backend.deployment(id).await)? {
            Ok(deployment) => last = deployment,
            Err(retry_after) => asked_for = retry_after,
        }
    }
}

/// Returns the stage of a deployment by its command. The serving state alone is not enough: if the new settings fail (say, a taken
/// port), the model keeps serving with the old ones.
fn served(command: Result<CommandInfo, Option<Duration>>) -> Stage {
    let Ok(command) = command else { return Stage::Waiting("starting to serve") };
    match command.result {
        Some(result) if result.status == OutcomeStatus::Succeeded => Stage::Done,
        Some(result) => {
            Stage::Failed(format!("the model is not served as you asked: {}", result.output))
        }
        None if command.state == CommandState::Sent && command.superseded_by.is_none() => {
            Stage::Waiting("starting to serve")
        }
        None => Stage::Done,
    }
}

/// Returns what to do about a deployment that failed for the reason `why`. Another port may help if this one is taken.
fn next_step(why: &str, again: &str) -> String {
    if why.contains("port ") && why.contains("in use") {
        format!("run `{again} --port N` with a free port")
    } else {
        format!("correct the cause, then run `{again}`")
    }
}

/// Returns the error code for a deployment that ended in the unsuccessful `state`.
const fn code(state: DeploymentState) -> ErrorCode {
    match state {
        DeploymentState::Cancelled => ErrorCode::DeploymentCancelled,
        DeploymentState::Completed => ErrorCode::DeploymentCompleted,
        DeploymentState::Queued
        | DeploymentState::Downloading
        | DeploymentState::Configuring
        | DeploymentState::Failed => ErrorCode::DeploymentFailed,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_model_that_serves_on_as_before_is_not_served_as_asked() {
        let command = |state: &str, result: serde_json::Value| {
            let id = "00000000000000000000000000000001";
            let command = json!({
                "command_id": format!("cmd_{id}"), "type": "DEPLOY_MODEL", "state": state,
                "model_id": null, "device_id": format!("dev_{id}"), "port": null,
                "created_at": "2026-11-29T00:00:00Z", "expires_at": "2026-11-30T00:00:00Z",
                "result": result,
            });
            serde_json::from_value::<CommandInfo>(command).unwrap()
        };
        let result = |status: &str, output: &str| json!({ "status": status, "output": output, "reported_at": "2026-11-29T00:00:01Z" });
        let taken = "port 8080 is in use by python3";
        let failed = served(Ok(command("processed", result("failed", taken))));
        let why = format!("the model is not served as you asked: {taken}");
        assert_eq!(failed, Stage::Failed(why));
        assert_eq!(served(Ok(command("processed", result("succeeded", "")))), Stage::Done);
        assert_eq!(served(Ok(command("sent", json!(null)))), Stage::Waiting("starting to serve"));
        assert_eq!(served(Err(None)), Stage::Waiting("starting to serve"));
        assert_eq!(
            next_step(taken, "link run tiny"),
            "run `link run tiny --port N` with a free port"
        );
        assert_eq!(
            next_step("the disk is full", "link run tiny"),
            "correct the cause, then run `link run tiny`"
        );
    }
}
