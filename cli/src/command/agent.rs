//! `link start`, `link stop`, `link restart`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    agent_config,
    agent_process::{self, Started},
    context::Context,
    error::CliError,
    resolve,
};

/// The agent after a start.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Running {
    running: bool,
    /// Whether this command has started the agent.
    started: bool,
}

/// The agent after a stop.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Stopped {
    running: bool,
    /// Whether this command has stopped the agent.
    stopped: bool,
}

pub(super) async fn start(context: &Context) -> Result<(), CliError> {
    let started = agent_process::start(context).await?;
    context.output.say(match started {
        Started::Before => "the agent is already running",
        Started::Now => "the agent is running",
    });
    agent_process::say_port(context)?;
    if resolve::identity(context)?.is_none() {
        context
            .output
            .say("this device is not registered: run `link up`, or `link register` with a key");
    }
    let now = matches!(started, Started::Now);
    context.output.data(&Running { running: true, started: now }, |_| String::new())
}

pub(super) async fn stop(context: &Context) -> Result<(), CliError> {
    let stopped = agent_process::stop(context).await?;
    context.output.say(if stopped { "stopped the agent" } else { "the agent was not running" });
    context.output.data(&Stopped { running: false, stopped }, |_| String::new())
}

pub(super) async fn restart(context: &Context) -> Result<(), CliError> {
    agent_config::check(context)?;
    agent_process::stop(context).await?;
    agent_process::start(context).await?;
    context.output.say("restarted the agent");
    agent_process::say_port(context)?;
    context.output.data(&Running { running: true, started: true }, |_| String::new())
}
