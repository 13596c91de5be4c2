//! The consequences of a command's result for the deployments of its device.

use jiff::Timestamp;
use link_protocol::{
    allowlist::Allowlist,
    command::Command,
    id::{DeploymentId, DeviceId, ModelId},
    port::Port,
    report::{CommandReport, CommandResult},
};

use crate::domain::deployment::{self, DeploymentRecord};

/// The consequence of a result.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Consequence {
    /// No deployment changes.
    Nothing,
    /// The deployment ends with the result.
    Ends(DeploymentId),
    /// The pipeline of the model has this allowlist and, if given, this port.
    Carries { model: ModelId, allowlist: Option<Allowlist>, port: Option<Port> },
    /// The model was removed from the device.
    Removed(ModelId),
}

/// Returns the consequence of the result `status` of `command`.
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

/// Returns those of `deployments` that change because `report` of `device` has the `consequence`. `deployments` is
/// ordered, newest first.
#[must_use]
pub fn changed(
    consequence: &Consequence,
    deployments: Vec<DeploymentRecord>,
    device: DeviceId,
    report: &CommandReport,
    now: Timestamp,
) -> Vec<DeploymentRecord> {
    let mut own: Vec<_> =
        deployments.into_iter().filter(|record| record.device == device).collect();
    match consequence {
        Consequence::Nothing => Vec::new(),
        Consequence::Ends(id) => {
            let Some(place) = own.iter().position(|record| record.id == *id) else {
                return Vec::new();
            };
            let mut ended = own.remove(place);
            let changes = ended.result(report.status, &report.output, now);
            if changes { vec![ended.as_in_force(&own)] } else { Vec::new() }
        }
        Consequence::Carries { model, allowlist, port } => {
            own.retain(|record| record.model == *model);
            let Some(place) = own.iter().position(DeploymentRecord::is_deployed) else {
                return Vec::new();
            };
            // Later deployments without effect show what is in force.
            let shows = |record: &DeploymentRecord| {
                record.is_deployed() || (record.has_no_effect() && !record.removed)
            };
            own.into_iter()
                .take(place + 1)
                .filter(shows)
                .map(|record| DeploymentRecord {
                    allowlist: allowlist.clone().unwrap_or(record.allowlist),
                    port: port.unwrap_or(record.port),
                    updated_at: now,
                    ..record
                })
                .collect()
        }
        Consequence::Removed(model) => deployment::removed(own, *model, now),
    }
}
