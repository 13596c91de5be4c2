//! The way to the backend: the network, proxies, certificates and clocks, as the agent finds them.

use jiff::SignedDuration;
use link_protocol::exit_code::ExitCode;
use serde::{Deserialize, Serialize};

use super::{Area, Finding};

/// The tolerated difference of two clocks. Signed messages are refused after five minutes.
const CLOCK_TOLERANCE: SignedDuration = SignedDuration::from_secs(60);

/// What was seen of the way to the backend.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    pub(crate) backend: String,
    /// Whether it is the backend that `link up` keeps for this user.
    pub(crate) is_own: bool,
    pub(crate) probe: Probe,
    /// Whether the question was asked with the environment of the agent. Otherwise it was that of this shell.
    pub(crate) as_the_agent: bool,
    /// The variables about proxies and certificates that the agent has, without passwords.
    pub(crate) variables: Vec<(String, String)>,
    /// Such variables that this shell has and the agent does not, or with another value.
    pub(crate) only_here: Vec<String>,
}

/// The answer at the backend's address, which another process may have asked for.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Probe {
    Answered {
        status: u16,
        is_backend: bool,
        not_ready: Option<String>,
        /// How far the clock of the backend is ahead of this machine's, in seconds.
        ahead_s: Option<i64>,
    },
    Failed {
        why: String,
        advice: Option<String>,
    },
    /// The question itself could not be asked.
    NotAsked(String),
}

pub(crate) fn findings(facts: &Network) -> Vec<Finding> {
    let mut findings = vec![reached(facts)];
    findings.extend(clock(&facts.probe));
    findings.extend(proxies(facts));
    findings
}

fn reached(facts: &Network) -> Finding {
    let Network { backend, probe, as_the_agent, .. } = facts;
    let whose = if *as_the_agent { "the agent's" } else { "this shell's" };
    let error = |found: String, cure: String| {
        Finding::error(Area::Backend, found, cure).exits(ExitCode::Unreachable)
    };
    match probe {
        Probe::NotAsked(why) => {
            Finding::skipped(Area::Backend, format!("{backend} was not asked: {why}"))
        }
        Probe::Failed { why, advice } => {
            let found = format!("{backend} does not answer with {whose} environment: {why}");
            let usual = if facts.is_own {
                "run `link up`, which starts your backend".to_owned()
            } else {
                format!("check the network of this machine: `curl -v {backend}/readyz`")
            };
            error(found, advice.clone().unwrap_or(usual))
        }
        Probe::Answered { is_backend: false, status, .. } => error(
            format!("what answers at {backend} is not a Link backend (status {status})"),
            "check whether this network or a proxy asks you to log in first, then the address in `link status`"
                .to_owned(),
        ),
        Probe::Answered { not_ready: Some(why), .. } => error(
            format!("{backend} answers, but cannot serve requests: {why}"),
            "run `link-backend doctor` on that machine".to_owned(),
        ),
        Probe::Answered { .. } => {
            Finding::ok(Area::Backend, format!("{backend} answers with {whose} environment"))
        }
    }
}

fn clock(probe: &Probe) -> Option<Finding> {
    let Probe::Answered { is_backend: true, ahead_s: Some(ahead_s), .. } = probe else {
        return None;
    };
    let ahead = SignedDuration::from_secs(*ahead_s);
    if ahead.abs() <= CLOCK_TOLERANCE {
        return Some(Finding::ok(Area::Clock, "this machine and the backend agree on the time"));
    }
    let direction = if ahead.is_positive() { "behind" } else { "ahead of" };
    let found = format!("the clock of this machine is {:#} {direction} the backend's", ahead.abs());
    let cure =
        "set the clock of the machine that is wrong; for this one: `sudo timedatectl set-ntp true`";
    Some(Finding::error(Area::Clock, found, cure))
}

fn proxies(facts: &Network) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !facts.variables.is_empty() {
        let list: Vec<_> =
            facts.variables.iter().map(|(name, value)| format!("{name}={value}")).collect();
        findings.push(Finding::ok(Area::Proxy, format!("the agent uses {}", list.join(" "))));
    }
    if !facts.only_here.is_empty() {
        let list = facts.only_here.join(", ");
        let found = format!("this shell sets {list}, and the agent has other values");
        let cure =
            "if the agent needs them too, run the command that installed Link again in this shell";
        findings.push(Finding::warning(Area::Proxy, found, cure));
    }
    findings
}
