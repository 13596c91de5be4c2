//! `link start`, `link stop`, `link restart`.

use serde_json::json;

use crate::{
    agent_config,
    agent_process::{self, Started},
    context::Context,
    error::CliError,
    resolve,
};

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
    context.output.data(&json!({"running": true, "started": now}), |_| String::new())
}

pub(super) async fn stop(context: &Context) -> Result<(), CliError> {
    let stopped = agent_process::stop(context).await?;
    context.output.say(if stopped { "stopped the agent" } else { "the agent was not running" });
    context.output.data(&json!({"running": false, "stopped": stopped}), |_| String::new())
}

pub(super) async fn restart(context: &Context) -> Result<(), CliError> {
    agent_config::check(context)?;
    agent_process::stop(context).await?;
    agent_process::start(context).await?;
    context.output.say("restarted the agent");
    agent_process::say_port(context)?;
    context.output.data(&json!({"running": true, "started": true}), |_| String::new())
}
