//! How a deployment that is not finished ends: at once when its device was never sent the command,
//! otherwise by asking the device.

use jiff::Timestamp;
use link_protocol::{
    command::{CancelDeploy, Command},
    deployment::DeploymentState,
};

use crate::domain::{command::CommandRecord, deployment::DeploymentRecord};

/// Ends `deployment`, and `command` which carries it out, or returns what the device is to be asked.
#[must_use]
pub fn cancel(
    deployment: &mut DeploymentRecord,
    command: Option<&mut CommandRecord>,
    reason: &str,
    now: Timestamp,
) -> Option<Command> {
    let unsent = command.filter(|command| command.is_open() && command.attempt == 0);
    let Some(command) = unsent else {
        return Some(Command::CancelDeploy(CancelDeploy {
            deployment_id: deployment.id,
            model_id: deployment.model,
        }));
    };
    command.supersede(None, now);
    deployment.end(DeploymentState::Cancelled, Some(reason), now);
    None
}
