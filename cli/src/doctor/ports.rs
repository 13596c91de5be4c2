//! The ports of the agent and of its models, and who holds them.

use super::{Area, Finding};

/// What was seen of the ports.
#[derive(Clone, Debug)]
pub(crate) struct Ports {
    /// The port that the local API shall have.
    pub(crate) local_wanted: u16,
    /// The port that it has. None if the agent does not answer.
    pub(crate) local: Option<u16>,
    /// Who holds `local_wanted`.
    pub(crate) local_holder: Holder,
    pub(crate) models: Vec<ModelPort>,
}

/// The port of one model.
#[derive(Clone, Debug)]
pub(crate) struct ModelPort {
    pub(crate) alias: String,
    pub(crate) model_id: String,
    pub(crate) port: u16,
    pub(crate) is_serving: bool,
    pub(crate) holder: Holder,
}

/// Who listens on a port.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Holder {
    Nobody,
    Agent,
    /// A process of this user.
    Process {
        pid: u32,
        program: String,
    },
    /// A process of another user.
    User(String),
    /// Somebody, but this system does not tell who.
    Unknown,
}

pub(crate) fn findings(facts: &Ports) -> Vec<Finding> {
    let mut findings = vec![local(facts)];
    findings.extend(facts.models.iter().filter_map(model));
    findings
}

fn local(facts: &Ports) -> Finding {
    let wanted = facts.local_wanted;
    if facts.local.is_none() && facts.local_holder == Holder::Agent {
        return Finding::ok(Area::Ports, format!("the agent holds port {wanted} of the local API"));
    }
    match (facts.local, in_words(&facts.local_holder)) {
        (Some(port), _) if port == wanted => {
            Finding::ok(Area::Ports, format!("the local API listens on port {port}"))
        }
        (Some(port), holder) => {
            let listens = format!("the local API listens on port {port}");
            match holder {
                Some(who) => Finding::warning(
                    Area::Ports,
                    format!("{listens}: port {wanted} is held by {who}"),
                    "run `link restart` when the port is free",
                ),
                None => Finding::warning(
                    Area::Ports,
                    format!("{listens}: port {wanted} was in use at its start, and is free now"),
                    "run `link restart`",
                ),
            }
        }
        (None, Some(who)) => {
            let found = format!("port {wanted} of the local API is held by {who}");
            let cure = "stop that program before the agent starts, or let other programs use the port that `link status` shows then";
            Finding::warning(Area::Ports, found, cure)
        }
        (None, None) => Finding::ok(Area::Ports, format!("port {wanted} of the local API is free")),
    }
}

fn model(model: &ModelPort) -> Option<Finding> {
    let ModelPort { alias, model_id, port, is_serving, holder } = model;
    let who = in_words(holder);
    match (is_serving, holder, who) {
        (true, Holder::Nobody, _) => Some(Finding::error(
            Area::Ports,
            format!("`{alias}` shall be served on port {port}, and nobody listens there"),
            "`link logs --local` says why",
        )),
        (_, Holder::Nobody | Holder::Agent, _) | (_, _, None) => None,
        (_, _, Some(who)) => Some(Finding::error(
            Area::Ports,
            format!("port {port} of `{alias}` is held by {who}"),
            format!("end that program, or choose a port: `link model serve {model_id} --port N`"),
        )),
    }
}

/// Returns who holds a port, as text. None if nobody or the agent does.
fn in_words(holder: &Holder) -> Option<String> {
    match holder {
        Holder::Nobody | Holder::Agent => None,
        Holder::Process { pid, program } => Some(format!("`{program}` (process {pid})")),
        Holder::User(user) => Some(format!("a program of the user `{user}`")),
        Holder::Unknown => Some("another program".to_owned()),
    }
}
