//! `link model deploy`: deploys or redeploys, and shows how far it is.

use std::time::Duration;

use link_client::backend::BackendClient;
use link_protocol::{
    backend_api::{
        deployment::{CreateDeployment, Deployment},
        model::Model,
    },
    command::ProxyFeatures,
    deployment::DeploymentState,
    id::DeviceId,
    report::ModelState,
};

use crate::{
    args::Deploy,
    command::{bulk, model::deploy_many},
    context::{Context, idempotency_key},
    error::CliError,
    exit_code::ExitCode,
    progress::Progress,
    resolve, session,
    wait::{self, Deadline},
};

/// Where a deployment is, as the one who waits for it sees it.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Stage {
    Waiting(&'static str),
    Done,
    Failed(String),
}

pub(super) async fn run(context: &Context, arguments: Deploy) -> Result<(), CliError> {
    let backend = session::logged_in(context)?;
    let model = resolve::model(&backend, &arguments.model).await?;
    if let Some(selector) = &arguments.select {
        let devices = bulk::select(&backend, selector).await?;
        return deploy_many::run(context, &backend, devices, &arguments, &model).await;
    }
    let device = resolve::device(context, &backend, arguments.device.as_deref()).await?;
    let request = wish(&arguments, &model, device);
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
    let ended = wait_for(context, &backend, created, arguments.serve, patience).await?;
    let served = if arguments.serve { " and serves it" } else { "" };
    context.output.say(&format!(
        "{device} has {}{served}: alias {}, port {}",
        resolve::told(&model),
        ended.alias,
        ended.port
    ));
    context.output.data(&ended, |_| String::new())
}

/// Returns what is asked for one device.
pub(super) fn wish(arguments: &Deploy, model: &Model, device: DeviceId) -> CreateDeployment {
    CreateDeployment {
        model_id: model.model_id,
        device_id: device,
        port: arguments.port,
        alias: arguments.naming.alias.clone(),
        serve: arguments.serve,
        proxy: ProxyFeatures { cors: !arguments.no_cors, telemetry: !arguments.no_telemetry },
    }
}

async fn wait_for(
    context: &Context,
    backend: &BackendClient,
    created: Deployment,
    serve: bool,
    patience: Duration,
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
                let code = format!("{:?}", last.state).to_lowercase();
                return Err(CliError::new(ExitCode::Failed, &format!("deployment-{code}"), why)
                    .hint("correct the cause and deploy again"));
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
            return Err(deadline.gave_up(&format!("the deployment is {stage} ({id})")));
        }
        match wait::tolerate(backend.deployment(id).await)? {
            Ok(deployment) => last = deployment,
            Err(retry_after) => asked_for = retry_after,
        }
    }
}

/// Tells where a deployment is.
pub(super) fn stage(deployment: &Deployment, serve: bool) -> Stage {
    let reason = || deployment.reason.clone().unwrap_or_else(|| "no reason was given".to_owned());
    match deployment.state {
        DeploymentState::Queued => Stage::Waiting("queued"),
        DeploymentState::Downloading => Stage::Waiting("downloading"),
        DeploymentState::Configuring => Stage::Waiting("configuring"),
        DeploymentState::Failed => Stage::Failed(format!("the deployment failed: {}", reason())),
        DeploymentState::Cancelled => {
            Stage::Failed(format!("the deployment was cancelled: {}", reason()))
        }
        DeploymentState::Completed if !serve => Stage::Done,
        DeploymentState::Completed => match &deployment.serving {
            Some(serving) if serving.is_serving => Stage::Done,
            Some(serving) if serving.state == ModelState::NotServing => match &serving.detail {
                Some(why) => Stage::Failed(format!("it is deployed and does not serve: {why}")),
                None => Stage::Waiting("starting to serve"),
            },
            Some(_) | None => Stage::Waiting("starting to serve"),
        },
    }
}

#[cfg(test)]
mod tests {
    use link_protocol::{backend_api::deployment::Serving, local_api::Progress as Bytes};

    use super::*;

    #[test]
    fn a_deployment_that_is_to_serve_is_done_once_it_serves() {
        let mut deployment = deployment(DeploymentState::Completed);
        assert_eq!(stage(&deployment, false), Stage::Done);
        assert_eq!(stage(&deployment, true), Stage::Waiting("starting to serve"));
        deployment.serving = Some(serving(ModelState::Serving, None));
        assert_eq!(stage(&deployment, true), Stage::Done);
        deployment.serving = Some(serving(ModelState::NotServing, Some("port 8080 is in use")));
        assert_eq!(
            stage(&deployment, true),
            Stage::Failed("it is deployed and does not serve: port 8080 is in use".into())
        );
    }

    #[test]
    fn a_failure_gives_its_reason() {
        let failed = deployment(DeploymentState::Failed);
        assert_eq!(stage(&failed, false), Stage::Failed("the deployment failed: disk full".into()));
    }

    fn serving(state: ModelState, detail: Option<&str>) -> Serving {
        Serving {
            state,
            is_serving: state == ModelState::Serving,
            port: "8080".parse().unwrap(),
            detail: detail.map(str::to_owned),
        }
    }

    fn deployment(state: DeploymentState) -> Deployment {
        let id = "00000000000000000000000000000001";
        let now = jiff::Timestamp::UNIX_EPOCH;
        Deployment {
            deployment_id: format!("dep_{id}").parse().unwrap(),
            model_id: format!("mdl_{id}").parse().unwrap(),
            publisher: None,
            device_id: format!("dev_{id}").parse().unwrap(),
            command_id: format!("cmd_{id}").parse().unwrap(),
            alias: "m".parse().unwrap(),
            port: "8080".parse().unwrap(),
            state,
            reason: Some("disk full".into()),
            progress: Bytes { bytes_done: 0, bytes_total: 0 },
            allowlist_digest: String::new(),
            stale: false,
            current: true,
            serving: None,
            created_at: now,
            updated_at: now,
        }
    }
}
