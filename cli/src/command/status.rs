//! `link status`: the agent, its connection and its models, from the agent's local API.
//!
//! Exit code 0 means that everything works. Every other state has its own exit code.

mod watch;

use link_client::{containment, local::LocalClient};
use link_installer::{engines, service::Availability};
use link_protocol::{
    exit_code::ExitCode,
    identity::Identity,
    local_api::{
        ConnectionState, DeploymentProgress, EngineHealth, Healthz, ModelHealth, PipelineEntry,
    },
    registration::TransportType,
    release::Channel,
    report::{LifecycleStatus, ModelState},
    system::EngineInUse,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    agent_config, agent_process, args,
    context::Context,
    document::Component,
    error::CliError,
    local_backend::{self, LocalBackend},
    output::{Cell, View, bytes},
    resolve, service,
};

/// The state of this machine.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Status {
    /// Whether this machine is registered as a device.
    registered: bool,
    /// Whether the agent runs.
    running: bool,
    /// Null if the machine is not registered.
    backend_url: Option<String>,
    /// Null if the machine is not registered.
    device_id: Option<String>,
    /// What the agent reports. Null if the agent does not answer.
    #[schemars(with = "Option<Component<Healthz>>")]
    agent: Option<Healthz>,
    /// The port of the local API. Null if the agent does not answer.
    local_port: Option<u16>,
    #[schemars(with = "Vec<Component<PipelineEntry>>")]
    pipelines: Vec<PipelineEntry>,
    /// The build of each installed engine that future model processes use.
    #[schemars(with = "Vec<Component<EngineInUse>>")]
    engines: Vec<EngineInUse>,
    availability: Availability,
}

pub(super) async fn run(context: &Context, arguments: &args::Status) -> Result<ExitCode, CliError> {
    let local = LocalClient::of(&context.roots);
    if arguments.watch {
        return watch::run(context, &local).await;
    }
    once(context, &local).await
}

async fn once(context: &Context, local: &LocalClient) -> Result<ExitCode, CliError> {
    let agent = local.healthz().await.ok();
    let here = Here::look(context);
    let availability = service::availability(context, here.start);
    let status = look(context, local, agent, availability).await?;
    let (exit, mut advice) = verdict(&status, resolve::identity(context)?.as_ref(), here);
    if status.agent.is_none() {
        let faults = agent_config::faults(context);
        let told = faults.map(|faults| format!("{faults}\ncorrect it, then run `link start`"));
        advice = told.or(advice);
    }
    context.output.data(&status, |status| text(status, &context.view()))?;
    if let Some(advice) = advice {
        context.output.say(&format!("\n{advice}"));
    }
    Ok(exit)
}

/// Collects the part of the state that the agent itself does not report.
async fn look(
    context: &Context,
    local: &LocalClient,
    agent: Option<Healthz>,
    availability: Availability,
) -> Result<Status, CliError> {
    let identity = resolve::identity(context)?;
    let pipelines = match &agent {
        Some(_) => local.models().await.unwrap_or_default(),
        None => Vec::new(),
    };
    let running = agent.is_some() || agent_process::is_running(context)?;
    Ok(Status {
        registered: identity.is_some(),
        running,
        backend_url: identity.as_ref().map(|identity| identity.backend_url.clone()),
        device_id: identity.as_ref().map(|identity| identity.device_id.to_string()),
        local_port: agent.as_ref().and_then(|_| local.port()),
        agent,
        pipelines,
        engines: engines::in_use(&context.roots.engines()),
        availability,
    })
}

/// What Link keeps on this machine besides the agent.
#[derive(Clone, Copy, Debug)]
struct Here {
    /// The command that starts all of it.
    start: &'static str,
    /// Whether the device belongs to a backend of this user that does not run.
    backend_is_down: bool,
}

impl Here {
    fn look(context: &Context) -> Self {
        let local = LocalBackend::look(context);
        let url = resolve::identity(context).ok().flatten().map(|identity| identity.backend_url);
        let is_own = url.is_some_and(|url| local.is_at(&url));
        Self {
            start: local_backend::start_command(context),
            backend_is_down: is_own && local.is_running().is_ok_and(|running| !running),
        }
    }
}

/// Returns the exit code of `link status` and the advice.
fn verdict(status: &Status, identity: Option<&Identity>, here: Here) -> (ExitCode, Option<String>) {
    let advice = |text: &str| Some(text.to_owned());
    if !status.registered {
        return (
            ExitCode::NotRegistered,
            advice("run `link up`, or register this device with `link register`"),
        );
    }
    let Some(agent) = &status.agent else {
        let text = if status.running {
            "the agent runs but does not answer: restart it with `link restart`".to_owned()
        } else {
            format!("start the agent with `{}`", here.start)
        };
        return (ExitCode::Unreachable, Some(text));
    };
    if identity.is_some_and(|identity| identity.device_id != agent.device_id) {
        let text = "the agent still runs as the former device: restart it with `link restart`";
        return (ExitCode::Failed, advice(text));
    }
    match agent.transport.state {
        ConnectionState::Connected => (ExitCode::Success, None),
        ConnectionState::Connecting if here.backend_is_down => (
            ExitCode::Unreachable,
            advice("the backend of this machine does not run: start it with `link up`"),
        ),
        ConnectionState::Connecting => {
            let text = "the agent cannot reach the backend and keeps retrying: `link doctor` finds the cause";
            (ExitCode::Unreachable, advice(text))
        }
        ConnectionState::Refused => (
            ExitCode::Refused,
            advice(
                "the backend no longer knows this device: register it again with `link register`",
            ),
        ),
    }
}

fn text(status: &Status, view: &View) -> String {
    let mut lines = Vec::new();
    let agent = match &status.agent {
        Some(agent) => {
            let version = Channel::named(&agent.channel).beside(&agent.agent_version);
            format!("{}, version {version}", lifecycle(agent.status))
        }
        None if status.running && !status.registered => "running, not registered".to_owned(),
        None if status.running => "running, does not answer".to_owned(),
        None => "not running".to_owned(),
    };
    lines.push(format!("Agent      {agent}"));
    let device = status.device_id.as_deref().unwrap_or("not registered");
    lines.push(format!("Device     {device}"));
    if let Some(url) = &status.backend_url {
        let connection = status.agent.as_ref().map(connection).unwrap_or_default();
        lines.push(format!("Backend    {url}{connection}"));
    }
    if let Some(port) = status.local_port {
        lines.push(format!("Local API  http://127.0.0.1:{port}"));
    }
    lines.extend(status.engines.iter().map(engine_in_words));
    let contained = status.agent.as_ref().and_then(|agent| agent.containment);
    lines.extend(contained.and_then(containment::missing).map(|missing| {
        format!(
            "Engines    not kept from {missing}: install plugins only if you trust their authors"
        )
    }));
    lines.push(format!("Service    {}", service::in_words(&status.availability)));
    if let Some(agent) = &status.agent {
        lines.push(String::new());
        lines.push(models(agent, &status.pipelines, view));
        lines.extend(agent.deployments.iter().map(deploying));
    }
    lines.join("\n")
}

fn engine_in_words(EngineInUse { engine, build, why }: &EngineInUse) -> String {
    let why = why.as_ref().map_or_else(String::new, |why| format!(" ({why})"));
    format!("Engine     {engine} {build}{why}")
}

fn deploying(deployment: &DeploymentProgress) -> String {
    let progress = deployment.progress;
    let percent = progress.bytes_done.saturating_mul(100).checked_div(progress.bytes_total);
    let share = percent.map_or_else(String::new, |percent| {
        let (done, total) = (bytes(progress.bytes_done), bytes(progress.bytes_total));
        format!("  {percent} % ({done} of {total})")
    });
    let state = match &deployment.engine {
        Some(build) => format!("{} the engine {build}", deployment.state.as_str()),
        None => deployment.state.as_str().to_owned(),
    };
    format!("deploying {}  {state}{share}", deployment.model_id)
}

fn models(agent: &Healthz, pipelines: &[PipelineEntry], view: &View) -> String {
    if agent.models.is_empty() {
        return "no models; deploy one with `link model deploy MODEL`".to_owned();
    }
    let rows = agent.models.iter().map(|model| {
        let entry = pipelines.iter().find(|entry| entry.pipeline_id == model.pipeline_id);
        let address = entry.map_or_else(
            || "-".to_owned(),
            |entry| format!("http://{}:{}", entry.host, entry.port),
        );
        let detail = model.detail.clone().unwrap_or_default();
        [model.alias.to_string(), state(model), address, detail].map(Cell::Text)
    });
    view.table(["MODEL", "STATE", "ADDRESS", ""], rows)
}

fn connection(agent: &Healthz) -> String {
    let kind = match agent.transport.r#type {
        TransportType::Http => "http",
        TransportType::Zenoh => "zenoh",
    };
    let state = match agent.transport.state {
        ConnectionState::Connecting => "connecting",
        ConnectionState::Connected => "connected",
        ConnectionState::Refused => "refused",
    };
    format!(" ({state}, {kind})")
}

const fn lifecycle(status: LifecycleStatus) -> &'static str {
    match status {
        LifecycleStatus::Starting => "starting",
        LifecycleStatus::Online => "online",
        LifecycleStatus::Updating => "Updating…",
        LifecycleStatus::Stopping => "stopping",
        LifecycleStatus::Deregistered => "deregistered",
    }
}

fn state(model: &ModelHealth) -> String {
    let health = match (model.state, model.health) {
        (ModelState::Serving, EngineHealth::Healthy) => return "serving".to_owned(),
        (ModelState::Serving, EngineHealth::Starting) => return "loading".to_owned(),
        (ModelState::Serving, EngineHealth::Unhealthy) => return "serving, unhealthy".to_owned(),
        (ModelState::NotServing, _) => "not serving",
        (ModelState::Starting, _) => "starting",
        (ModelState::Stopping, _) => "stopping",
        (ModelState::Removed, _) => "removed",
    };
    health.to_owned()
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use link_installer::service::Tier;

    use super::*;

    #[test]
    fn an_agent_that_does_not_run_is_said_to() {
        let status = Status {
            registered: true,
            running: false,
            backend_url: Some("http://b".into()),
            device_id: Some("dev_1".into()),
            agent: None,
            local_port: None,
            pipelines: Vec::new(),
            engines: Vec::new(),
            availability: Availability {
                tier: Tier::Detached,
                survives_logout: true,
                survives_reboot: false,
                why: "because".into(),
            },
        };
        let wanted = "Agent      not running\nDevice     dev_1\nBackend    http://b\n\
                      Service    background process; survives logout, not a reboot: because";
        assert_eq!(text(&status, &View::exact(Timestamp::UNIX_EPOCH)), wanted);
        let here = Here { start: "link up", backend_is_down: true };
        let (exit, advice) = verdict(&status, None, here);
        assert_eq!(exit, ExitCode::Unreachable);
        assert_eq!(advice.as_deref(), Some("start the agent with `link up`"));
        let unregistered = Status { registered: false, ..status };
        assert_eq!(verdict(&unregistered, None, here).0, ExitCode::NotRegistered);
    }
}
