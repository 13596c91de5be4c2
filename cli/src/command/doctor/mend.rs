//! Mends what is safe to mend.

use std::time::Duration;

use link_client::local::LocalClient;
use link_installer::layout::Layout;
use link_platform::fs;
use link_protocol::{
    exit_code::ExitCode,
    local_api::{ConnectionState, Healthz},
};

use crate::{
    agent_process, backend_login,
    command::outcome,
    context::{Context, idempotency_key},
    doctor::{Finding, Fix},
    error::CliError,
    error_code::ErrorCode,
    path_setup, resolve,
    wait::Deadline,
};

/// The longest wait for a device that repairs.
const REPAIR_PATIENCE: Duration = Duration::from_secs(60);

/// The longest wait for an agent that connects.
const CONNECT_PATIENCE: Duration = Duration::from_secs(10);

/// Does the fix of each finding. Returns what was done, and says what could not be done.
pub(super) async fn mend(context: &Context, findings: &[Finding]) -> Vec<String> {
    let mut done = Vec::new();
    for fix in findings.iter().filter_map(|finding| finding.fix.as_ref()) {
        match apply(context, fix).await {
            Ok(text) => done.push(text),
            Err(error) => context.output.say(&format!("not fixed: {}", error.message)),
        }
    }
    done
}

async fn apply(context: &Context, fix: &Fix) -> Result<String, CliError> {
    match fix {
        Fix::StartAgent => {
            agent_process::start(context).await?;
            settle(context).await;
            Ok("started the agent".to_owned())
        }
        Fix::RestartAgent => {
            agent_process::stop(context).await?;
            agent_process::start(context).await?;
            settle(context).await;
            Ok("restarted the agent".to_owned())
        }
        Fix::MakePrivate(folder) => {
            fs::keep_to_owner(folder).map_err(|error| CliError::file(&error))?;
            Ok(format!("closed `{}` to other users", folder.display()))
        }
        Fix::PutOnPath => {
            if !path_setup::edit(context, &Layout::new(context.roots.clone()))? {
                let message = "no start file of a shell could be edited";
                return Err(CliError::new(ExitCode::CannotWrite, ErrorCode::File, message));
            }
            Ok("put the command on PATH; a new login shell reads it".to_owned())
        }
        Fix::Repair(model) => {
            let backend = backend_login::logged_in(context)?;
            let model = resolve::model(&backend, model).await?;
            let device = resolve::device(context, &backend, None).await?;
            let key = idempotency_key();
            let sent = backend.repair_serving(model.model_id, device, None, &key).await?;
            let what = format!("repair the serving of {}", resolve::told(&model));
            outcome::done(context, &backend, sent, &what, Deadline::after(REPAIR_PATIENCE)).await?;
            Ok(format!("sent the account's allowlist to {}", resolve::told(&model)))
        }
    }
}

/// Waits until the agent is connected, or is not going to be.
async fn settle(context: &Context) {
    let (local, deadline) = (LocalClient::of(&context.roots), Deadline::after(CONNECT_PATIENCE));
    let is_connecting = |health: &Healthz| health.transport.state == ConnectionState::Connecting;
    while local.healthz().await.as_ref().is_ok_and(is_connecting) {
        if !deadline.pause_locally().await {
            return;
        }
    }
}
