//! `link uninstall`: deregisters the device, stops the agent, deletes what was installed.
//!
//! Declined at the question, nothing has changed (specification, section 3.4).

use link_client::agent::AgentClient;
use link_installer::{layout::Layout, uninstall};
use link_protocol::identity::Identity;
use serde_json::json;

use crate::{
    agent_process, args::Uninstall, context::Context, error::CliError, exit_code::ExitCode,
    resolve, secret_input,
};

/// What became of the device's record at the backend.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Deregistered {
    /// There was none.
    NotNeeded,
    Done,
    /// The backend could not be told.
    Deferred(String),
}

pub(super) async fn run(context: &Context, arguments: Uninstall) -> Result<ExitCode, CliError> {
    let question = "Deregister this device and delete Link, its models and its login?";
    if !arguments.yes && !secret_input::confirm(question)? {
        context.output.say("nothing was changed");
        return Ok(ExitCode::Success);
    }
    // A damaged identity cannot be deregistered, and must not keep the rest from going.
    let identity = resolve::identity(context).unwrap_or_default();
    let was_running = agent_process::stop(context).await?;
    if was_running {
        context.output.say("stopped the agent");
    }
    let deregistered = match &identity {
        Some(identity) => deregister(identity).await,
        None => Deregistered::NotNeeded,
    };
    context.output.say(&match &deregistered {
        Deregistered::NotNeeded => "the device was not registered".to_owned(),
        Deregistered::Done => "deregistered the device".to_owned(),
        Deregistered::Deferred(why) => {
            format!("the backend could not be told ({why}); remove the device in its dashboard")
        }
    });
    let left = uninstall::uninstall(&Layout::new(context.roots.clone()));
    if let Some((path, why)) = left.first() {
        let message =
            format!("{} could not be deleted, first `{}`: {why}", left.len(), path.display());
        return Err(CliError::new(ExitCode::LeftBehind, "left-behind", message));
    }
    context.output.say("deleted everything that was installed");
    let done = deregistered == Deregistered::Done || deregistered == Deregistered::NotNeeded;
    context.output.data(&json!({"uninstalled": true, "deregistered": done}), |_| String::new())?;
    Ok(if done { ExitCode::Success } else { ExitCode::DeregistrationDeferred })
}

async fn deregister(identity: &Identity) -> Deregistered {
    let Identity { backend_url, device_id, device_token, .. } = identity;
    let client = match AgentClient::new(backend_url, *device_id, device_token.clone()) {
        Ok(client) => client,
        Err(error) => return Deregistered::Deferred(error.to_string()),
    };
    match client.deregister().await {
        Ok(true) => Deregistered::Done,
        Ok(false) => Deregistered::Deferred(format!("no answer from {backend_url}")),
        // The backend does not know the device any more: that is what was wanted.
        Err(error) if matches!(error.status, 401 | 404) => Deregistered::Done,
        Err(error) => Deregistered::Deferred(error.to_string()),
    }
}
