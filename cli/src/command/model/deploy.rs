//! `link model deploy`: creates or replaces a deployment, and shows its progress.

use std::time::Duration;

use link_client::backend::BackendClient;
use link_protocol::{
    backend_api::deployment::Deployment, deployment::DeploymentState, exit_code::ExitCode,
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
    if let Some(selector) = &arguments.many.select {
        let patience = arguments.wait.wait.then_some(arguments.wait.timeout);
        let (which, work) = ((&arguments.many, selector), work(&arguments, &model, settings));
        return bulk::start(context, &backend, which, work, patience).await;
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
    let patience = arguments.wait.timeout;
    let device_option =
        arguments.device.as_ref().map_or_else(String::new, |named| format!(" --device {named}"));
    let hint = format!("to cancel it, run `link model cancel {}{device_option}`", arguments.model);
    let serve = if arguments.serve { " --serve" } else { "" };
    let again = format!("link model deploy {}{device_option}{serve} --wait", arguments.model);
    let work = wait_for(context, &backend, created, (arguments.serve, patience), &again);
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

/// Waits for the end of a deployment, and shows the progress. `again` is the command that repeats the deployment.
///
/// # Errors
/// If the deployment fails or the deadline passes.
pub(in crate::command) async fn wait_for(
    context: &Context,
    backend: &BackendClient,
    created: Deployment,
    (serve, patience): (bool, Duration),
    again: &str,
) -> Result<Deployment, CliError> {
    let deadline = Deadline::after(patience);
    let progress = Progress::start(context.output);
    let id = created.deployment_id;
    let mut last = created;
    let mut asked_for = None;
    loop {
        let stage = match stage(&last, serve) {
            Stage::Done => return Ok(last),
            Stage::Failed(why) => {
                return Err(CliError::new(ExitCode::Failed, code(last.state), why)
                    .hint(format!("correct the cause, then run `{again}`")));
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
