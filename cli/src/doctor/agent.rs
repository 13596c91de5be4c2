//! The registration of this machine, and the agent.

use link_protocol::{
    exit_code::ExitCode,
    identity::Identity,
    local_api::{ConnectionState, Healthz},
    registration::TransportType,
    update::UpdateEnd,
};

use super::{Area, Finding, Fix};

/// What was seen of the agent.
#[derive(Clone, Debug)]
pub(crate) struct Agent {
    pub(crate) registration: Registration,
    pub(crate) running: bool,
    /// What the agent answers, if it does.
    pub(crate) health: Option<Healthz>,
    /// The version that is installed, if it is known.
    pub(crate) installed: Option<semver::Version>,
    /// Whether the configuration keeps the agent from starting.
    pub(crate) misconfigured: bool,
    /// Whether the configuration asks for zenoh, and for HTTP while the router does not answer.
    pub(crate) may_fall_back: bool,
}

/// Whether this machine is a device.
#[derive(Clone, Debug)]
pub(crate) enum Registration {
    Absent,
    /// Why the identity cannot be used.
    Unusable(String),
    Device(Box<Identity>),
}

pub(crate) fn findings(facts: &Agent) -> Vec<Finding> {
    let identity = match &facts.registration {
        Registration::Device(identity) => identity,
        Registration::Absent => {
            let cure = "run `link up`, or register this device with `link register`";
            let found = "this machine is not registered";
            return vec![Finding::error(Area::Agent, found, cure).exits(ExitCode::NotRegistered)];
        }
        Registration::Unusable(why) => {
            let cure = "remove the file and register again with `link register`";
            return vec![Finding::error(Area::Agent, why, cure).exits(ExitCode::NotRegistered)];
        }
    };
    let Some(health) = &facts.health else { return vec![silent(facts)] };
    if health.device_id != identity.device_id {
        let found = "the agent still runs as the former device";
        return vec![
            Finding::error(Area::Agent, found, "run `link restart`").fixed_by(Fix::RestartAgent),
        ];
    }
    let mut findings = vec![version(facts, health)];
    findings.extend(rolled_back(health));
    findings.push(connection(facts, health, &identity.backend_url));
    findings
}

fn silent(facts: &Agent) -> Finding {
    let (found, cure, fix) = if facts.running {
        ("the agent runs but does not answer", "run `link restart`", Fix::RestartAgent)
    } else {
        ("the agent does not run", "run `link start`", Fix::StartAgent)
    };
    let finding = Finding::error(Area::Agent, found, cure).exits(ExitCode::Unreachable);
    // With a faulty configuration it would end at once.
    if facts.misconfigured { finding } else { finding.fixed_by(fix) }
}

fn version(facts: &Agent, health: &Healthz) -> Finding {
    let running = &health.agent_version;
    match &facts.installed {
        Some(installed) if installed != running => Finding::warning(
            Area::Agent,
            format!("the agent runs version {running}, but version {installed} is installed"),
            "run `link restart`",
        ),
        Some(_) | None => Finding::ok(Area::Agent, format!("it runs, version {running}")),
    }
}

fn rolled_back(health: &Healthz) -> Option<Finding> {
    let last = health.last_update.as_ref()?;
    if last.outcome != UpdateEnd::RolledBack {
        return None;
    }
    let why = last.reason.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    let found = format!("the update to {} was rolled back{why}", last.to);
    let cure = "`link update` installs a newer version; `link update --again` retries this one";
    Some(Finding::warning(Area::Agent, found, cure))
}

fn connection(facts: &Agent, health: &Healthz, backend: &str) -> Finding {
    let is_on_http = health.transport.r#type == TransportType::Http;
    let found = format!("the agent is connected to {backend} over {}", health.transport.r#type);
    match health.transport.state {
        ConnectionState::Connected if is_on_http && facts.may_fall_back => Finding::warning(
            Area::Backend,
            format!("{found}, because its zenoh router does not answer"),
            "see `link logs --local`; `transport.endpoints` in `agent.json` changes the address of the router, which the backend names otherwise",
        ),
        ConnectionState::Connected => Finding::ok(Area::Backend, found),
        ConnectionState::Connecting => Finding::error(
            Area::Backend,
            format!("the agent cannot reach {backend} and keeps retrying"),
            "see the other findings, and `link logs --local`",
        )
        .exits(ExitCode::Unreachable),
        ConnectionState::Refused => Finding::error(
            Area::Backend,
            format!("{backend} no longer knows this device"),
            "register it again with `link register`",
        )
        .exits(ExitCode::Refused),
    }
}
