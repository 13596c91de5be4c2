//! `link run`: prepares everything that a model needs to answer on this machine, then asks it a
//! question.

use std::time::Duration;

use link_client::{backend::BackendClient, local::LocalClient};
use link_protocol::{
    backend_api::{
        deployment::{CreateDeployment, Deployment, ProxyWish},
        model::Model,
    },
    deployment::DeploymentState,
    exit_code::ExitCode,
    id::DeviceId,
    local_api::PipelineEntry,
    port::Port,
    report::ModelState,
};

use crate::{
    agent_process::{self, Started},
    args::{Add, Run},
    backend_login,
    command::{
        chat,
        model::{
            add::Adding,
            catalogue,
            deploy::{self, Awaited},
            lookup,
        },
        other_use::OtherUse,
        outcome,
    },
    context::{Context, idempotency_key},
    error::CliError,
    error_code::ErrorCode,
    resolve,
    wait::Deadline,
};

/// Timeout for a deployment, including its download.
const PATIENCE: Duration = Duration::from_hours(1);
/// Timeout for serving a downloaded model.
const SERVING: Duration = Duration::from_mins(3);

pub(super) async fn run(context: &Context, arguments: Run) -> Result<ExitCode, CliError> {
    if agent_process::start(context).await? == Started::Now {
        context.output.say("started the agent");
    }
    let local = LocalClient::of(&context.roots);
    let is_meant = |entry: &PipelineEntry| {
        entry.alias.as_str() == arguments.model
            && arguments.port.is_none_or(|port| port == entry.port)
    };
    let here = local.models().await?.into_iter().find(|entry| entry.is_serving && is_meant(entry));
    let entry = match here {
        Some(entry) => entry,
        None => bring(context, &local, &arguments).await?,
    };
    match chat::other_use(&entry).await {
        None => chat::talk(context, &entry, arguments.question).await,
        Some(other) if arguments.question.words.is_empty() => {
            context.output.say(&other.said());
            context.output.data(&other, OtherUse::in_words)?;
            Ok(ExitCode::Success)
        }
        Some(other) => Err(other.refusal()),
    }
}

/// Deploys and serves a model, unless that is already done.
async fn bring(
    context: &Context,
    local: &LocalClient,
    arguments: &Run,
) -> Result<PipelineEntry, CliError> {
    let Some(identity) = resolve::identity(context)? else {
        let message = "this device is not registered, so no model can be deployed to it";
        return Err(CliError::new(ExitCode::NotRegistered, ErrorCode::NotRegistered, message)
            .hint("run `link up`, or register it with `link register`"));
    };
    let device = identity.device_id;
    let backend = backend_login::logged_in(context)?;
    let adding = Adding { wish: &Add::as_it_is(), must_fit: !arguments.anyway };
    let model = lookup::find(context, &backend, &arguments.model, adding).await?;
    if let Some(facts) = model.facts.as_ref().filter(|_| !arguments.anyway) {
        catalogue::ensure_fits(facts.memory_bytes)?;
    }
    let current = backend.current_deployments(Some(device), Some(model.model_id)).await?;
    let deployment = match current.into_iter().next() {
        Some(deployment) if is_serving(&deployment, arguments.port) => deployment,
        Some(deployment) if deployment.state == DeploymentState::Completed => {
            let sent = backend.serve(model.model_id, device, arguments.port).await?;
            let what = format!("serve {}", resolve::told(&model));
            outcome::done(context, &backend, sent, &what, Deadline::after(SERVING)).await?;
            deployment
        }
        Some(_) | None => deploy(context, &backend, &model, device, arguments.port).await?,
    };
    shown(local, &deployment).await
}

async fn deploy(
    context: &Context,
    backend: &BackendClient,
    model: &Model,
    device: DeviceId,
    port: Option<Port>,
) -> Result<Deployment, CliError> {
    let request = CreateDeployment {
        model_id: model.model_id,
        device_id: device,
        port,
        alias: None,
        serve: true,
        proxy: ProxyWish::default(),
        settings: None,
    };
    let created = backend.deploy(&request, &idempotency_key()).await?;
    let again = format!("link run {}", resolve::called(model));
    let awaited = Awaited { is_served: true, patience: PATIENCE };
    deploy::wait_for(context, backend, created, awaited, &again).await
}

/// Returns whether the model is served, or about to be, on the requested port.
fn is_serving(deployment: &Deployment, port: Option<Port>) -> bool {
    let state = deployment.serving.as_ref().map(|serving| serving.state);
    deployment.state == DeploymentState::Completed
        && matches!(state, Some(ModelState::Serving | ModelState::Starting))
        && port.is_none_or(|port| port == deployment.port)
}

/// Waits until the agent reports the model as served.
async fn shown(local: &LocalClient, deployment: &Deployment) -> Result<PipelineEntry, CliError> {
    // After its start, the agent first loads the models that it served before.
    let deadline = Deadline::after(SERVING);
    loop {
        let served = local
            .models()
            .await?
            .into_iter()
            .find(|entry| entry.is_serving && entry.alias == deployment.alias);
        if let Some(entry) = served {
            return Ok(entry);
        }
        if !deadline.pause_locally().await {
            let message = format!("`{}` is not served on this device", deployment.alias);
            return Err(CliError::new(ExitCode::Failed, ErrorCode::NotServing, message)
                .hint("`link status` shows the reason"));
        }
    }
}
