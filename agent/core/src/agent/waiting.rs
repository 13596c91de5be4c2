//! Deployments that wait for their turn: they are listed, and end without having begun.

use link_protocol::{
    command::{CancelDeploy, DeployModel},
    deployment::DeploymentState,
    id::CommandId,
    local_api::DeploymentProgress,
    report::CommandResult,
};

use super::Agent;
use crate::{deployment, effect::Turn};

impl Agent {
    /// Returns the deployments in progress, and then those that wait for their turn.
    #[must_use]
    pub fn deployments(&self) -> Vec<DeploymentProgress> {
        let waiting = self.ledger.waiting().filter_map(|(_, command)| command.deployment());
        self.deployments.progress().into_iter().chain(waiting.map(deployment::queued)).collect()
    }

    pub(super) fn cancel(&mut self, id: CommandId, cancel: &CancelDeploy, turn: &mut Turn) {
        let deployment_id = cancel.deployment_id;
        let reason = "cancelled by a user";
        if self.deployments.cancel(id, deployment_id, reason, turn) {
            return;
        }
        match self.waiting_deployment(|deploy| deploy.deployment_id == deployment_id) {
            Some(deploy) => {
                turn.report_command(deploy, CommandResult::Cancelled, reason);
                turn.report_command(id, CommandResult::Succeeded, "the deployment was cancelled");
            }
            None => {
                let downloading = DeploymentState::Downloading.as_str();
                let output =
                    format!("too late: the deployment is no longer {downloading} on this device");
                turn.report_command(id, CommandResult::Rejected, output);
            }
        }
    }

    /// Returns the command of a stored deployment that has not started.
    pub(super) fn waiting_deployment(
        &self,
        wanted: impl Fn(&DeployModel) -> bool,
    ) -> Option<CommandId> {
        let mut waiting = self.ledger.waiting();
        waiting.find(|(_, command)| command.deployment().is_some_and(&wanted)).map(|(id, _)| id)
    }
}
