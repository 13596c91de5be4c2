//! `link doctor`: what is wrong on this machine, and what mends it. The decisions are in [`crate::doctor`].

mod machine;
mod mend;
mod network;
mod page;
mod setup;

use link_client::{local::LocalClient, reach};
use link_installer::{layout::Layout, versions};
use link_protocol::{
    allowlist::Origin,
    exit_code::ExitCode,
    local_api::{Healthz, PipelineEntry},
};

use crate::{
    agent_config, agent_process,
    args::{Doctor, Reach},
    context::{self, Context},
    doctor::{
        Diagnosis,
        agent::{self, Agent, Registration},
        installation, machine as machine_rules, models,
        network::{self as network_rules, Probe},
        origin, ports, service as service_rules,
    },
    error::CliError,
    output, resolve,
};

/// What the agent says of itself.
struct Seen {
    registration: Registration,
    running: bool,
    /// The process of the agent, if it runs.
    agent: Option<u32>,
    health: Option<Healthz>,
    pipelines: Vec<PipelineEntry>,
    /// The port of the local API.
    port: Option<u16>,
}

pub(super) async fn run(context: &Context, arguments: &Doctor) -> Result<ExitCode, CliError> {
    let origin = arguments.origin.as_ref();
    let mut diagnosis = diagnose(context, origin).await?;
    if arguments.fix {
        let fixed = mend::mend(context, &diagnosis.findings).await;
        if !fixed.is_empty() {
            diagnosis = Diagnosis { fixed, ..diagnose(context, origin).await? };
        }
    }
    context.output.data(&diagnosis, Diagnosis::text)?;
    Ok(diagnosis.exit())
}

/// Asks a backend with the environment of this process, and prints the answer as JSON for the process that started
/// this one.
///
/// # Errors
/// If stdout cannot be written.
pub(super) async fn reach(arguments: &Reach) -> Result<(), CliError> {
    let asked = context::now();
    let probe = match reach::reach(&arguments.url).await {
        Ok(reached) => Probe::Answered {
            status: reached.status,
            is_backend: reached.is_backend,
            not_ready: reached.not_ready,
            // The clock was read between the question and the answer.
            ahead_s: reached.server_time.map(|server| ahead_s(server, asked, context::now())),
        },
        Err(error) => Probe::Failed { why: error.why, advice: error.advice.map(str::to_owned) },
    };
    let text = serde_json::to_string(&probe).expect("a probe has only string keys");
    output::write_stdout(&format!("{text}\n"))
}

/// Returns how far `server` is ahead of this machine, whose clock was read before and after. The time of a server has
/// whole seconds.
fn ahead_s(server: jiff::Timestamp, before: jiff::Timestamp, after: jiff::Timestamp) -> i64 {
    let server = server.as_second();
    if server < before.as_second() {
        server - before.as_second()
    } else {
        (server - after.as_second()).max(0)
    }
}

/// Looks at everything. With an origin, also asks the served models what a browser would ask for its pages.
///
/// # Errors
/// If a lock cannot be checked, or LINK_LOCAL_PORT is not a port.
pub(super) async fn diagnose(
    context: &Context,
    wanted: Option<&Origin>,
) -> Result<Diagnosis, CliError> {
    let layout = Layout::new(context.roots.clone());
    let seen = look_at_agent(context).await?;
    let installed = installation::findings(&setup::installation(context, &layout));
    let service = service_rules::findings(&setup::service(context, &layout, seen.running));
    let agent = agent::findings(&Agent {
        registration: seen.registration.clone(),
        running: seen.running,
        health: seen.health.clone(),
        installed: versions::current(&layout),
        misconfigured: agent_config::faults(context).is_some(),
        may_fall_back: agent_config::may_fall_back(context),
    });
    let mut findings = [installed, service, agent].concat();
    if let Registration::Device(identity) = &seen.registration {
        let network = network::look(context, &layout, &seen, &identity.backend_url);
        findings.extend(network_rules::findings(&network));
    }
    findings.extend(ports::findings(&machine::ports(context, &seen)?));
    findings.extend(machine_rules::findings(&machine::look(context, &seen).await));
    findings.extend(models::findings(&setup::models(context, &seen)));
    let mut matrix = Vec::new();
    if let Some(wanted) = wanted {
        let facts = page::look(context, wanted, &seen).await;
        findings.extend(origin::findings(&facts));
        matrix = origin::matrix(&facts);
    }
    Ok(Diagnosis::new(findings, matrix))
}

async fn look_at_agent(context: &Context) -> Result<Seen, CliError> {
    let registration = match resolve::identity(context) {
        Ok(None) => Registration::Absent,
        Ok(Some(identity)) => Registration::Device(Box::new(identity)),
        Err(error) => Registration::Unusable(error.message),
    };
    let local = LocalClient::of(&context.roots);
    let health = local.healthz().await.ok();
    let pipelines = match &health {
        Some(_) => local.models().await.unwrap_or_default(),
        None => Vec::new(),
    };
    let running = health.is_some() || agent_process::is_running(context)?;
    let port = health.as_ref().and_then(|_| local.port());
    let agent = agent_process::agent_pid(context);
    Ok(Seen { registration, running, agent, health, pipelines, port })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_between_the_two_readings_agrees() {
        let at = |second| jiff::Timestamp::from_second(second).unwrap();
        assert_eq!(ahead_s(at(100), at(99), at(101)), 0);
        assert_eq!(ahead_s(at(160), at(99), at(101)), 59);
        assert_eq!(ahead_s(at(40), at(99), at(101)), -59);
    }
}
