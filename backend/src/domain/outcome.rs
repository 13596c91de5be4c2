//! What the result of a command means for the deployments of its device.

use link_protocol::{
    allowlist::Allowlist,
    command::Command,
    id::{DeploymentId, ModelId},
    port::Port,
    report::CommandResult,
};

/// What follows from a result.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Consequence {
    /// Nothing.
    Nothing,
    /// The deployment ends with the result.
    Ends(DeploymentId),
    /// The model's pipeline has this allowlist and, when given, this port from now on.
    Carries { model: ModelId, allowlist: Option<Allowlist>, port: Option<Port> },
    /// The model is gone from the device.
    Removed(ModelId),
}

/// Returns what follows from `command` ending with `status`.
#[must_use]
pub fn of(command: &Command, status: CommandResult) -> Consequence {
    match (command, status) {
        (Command::DeployModel(deploy) | Command::UpdateModel(deploy), _) => {
            Consequence::Ends(deploy.deployment_id)
        }
        (Command::RepairServing(repair), CommandResult::Succeeded) => Consequence::Carries {
            model: repair.model_id,
            allowlist: Some(repair.allowlist.clone()),
            port: repair.port,
        },
        (Command::StartServing(start), CommandResult::Succeeded) => {
            Consequence::Carries { model: start.model_id, allowlist: None, port: start.port }
        }
        (Command::UpdatePipeline(update), CommandResult::Succeeded) => Consequence::Carries {
            model: update.config.model_id,
            allowlist: Some(update.config.allowlist.clone()),
            port: Some(update.config.port),
        },
        (Command::UninstallModel(uninstall), CommandResult::Succeeded) => {
            Consequence::Removed(uninstall.model_id)
        }
        (
            Command::RepairServing(_)
            | Command::StartServing(_)
            | Command::UpdatePipeline(_)
            | Command::UninstallModel(_),
            CommandResult::Failed | CommandResult::Rejected | CommandResult::Cancelled,
        )
        | (Command::CancelDeploy(_) | Command::StopServing(_) | Command::UpdateAgent(_), _) => {
            Consequence::Nothing
        }
    }
}
