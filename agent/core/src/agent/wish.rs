//! Requests of a person at this machine. They need no connection: the backend learns the outcome
//! from reports, now or when the connection returns.

use link_protocol::{command::DeployModel, report::CommandResult};

use super::Agent;
use crate::{effect::Turn, event::Wish};

const REASON: &str = "ended by a person at this machine";

impl Agent {
    pub(super) fn grant(&mut self, wish: Wish, turn: &mut Turn) {
        match wish {
            Wish::Serve(id) => self.pipelines.wish_serve(id, turn),
            Wish::Stop(id) => self.pipelines.wish_stop(id, REASON, turn),
            Wish::CancelDeploy(id) => {
                let cancelled = CommandResult::Cancelled;
                let wanted = |_, deploy: &DeployModel| deploy.pipeline_id == id;
                self.deployments.stop(wanted, cancelled, REASON, turn);
                if let Some(command) = self.waiting_deployment(|one| one.pipeline_id == id) {
                    turn.report_command(command, cancelled, REASON);
                }
            }
            Wish::Remove(id) => {
                self.grant(Wish::CancelDeploy(id), turn);
                self.pipelines.wish_remove(id, REASON, turn);
            }
        }
    }
}
