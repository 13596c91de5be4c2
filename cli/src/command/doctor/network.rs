//! Asks the backend as the agent would: in a process with the agent's environment.

use std::{path::PathBuf, time::Duration};

use link_installer::{layout::Layout, service};
use link_platform::{
    process::{self, Call},
    process_view,
};

use super::Seen;
use crate::{
    context::{self, Context},
    doctor::network::{Network, Probe},
    local_backend::LocalBackend,
    redaction::without_login,
};

/// How long that process may take. Its question has a timeout of its own.
const LIMIT: Duration = Duration::from_secs(20);

pub(super) fn look(context: &Context, layout: &Layout, seen: &Seen, backend: &str) -> Network {
    let agents = of_running_agent(seen.agent).or_else(|| service::variables(layout));
    let here = &context.environment.network;
    let (variables, only_here) = match &agents {
        None => (here.clone(), Vec::new()),
        Some(environment) => {
            let agents = context::network_of(environment);
            let differs = here.iter().filter(|variable| !agents.contains(variable));
            let names = differs.map(|(name, _)| (*name).to_owned()).collect();
            (agents, names)
        }
    };
    let as_the_agent = agents.is_some();
    let shown = variables.iter().map(|(name, value)| ((*name).to_owned(), without_login(value)));
    Network {
        backend: backend.to_owned(),
        is_own: LocalBackend::look(context).is_at(backend),
        probe: ask(backend, agents),
        as_the_agent,
        variables: shown.collect(),
        only_here,
    }
}

/// Returns the environment of the running agent, if the system tells it.
fn of_running_agent(agent: Option<u32>) -> Option<Vec<(String, String)>> {
    process_view::environment(agent?)
}

fn ask(backend: &str, environment: Option<Vec<(String, String)>>) -> Probe {
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => return Probe::NotAsked(error.to_string()),
    };
    match answer(program, backend, environment) {
        Ok(probe) => probe,
        Err(why) => Probe::NotAsked(why),
    }
}

fn answer(
    program: PathBuf,
    backend: &str,
    environment: Option<Vec<(String, String)>>,
) -> Result<Probe, String> {
    let env = environment.map(|variables| {
        variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect()
    });
    let args = vec!["reach".into(), "--".into(), backend.into()];
    let call = Call { program, args, env, limit: LIMIT };
    let answer = process::call(&call).map_err(|error| error.to_string())?;
    if !answer.success {
        return Err(answer.stderr);
    }
    serde_json::from_str(&answer.stdout).map_err(|error| error.to_string())
}
