//! The repair of a pipeline: another allowlist for the same model.

use link_protocol::{id::CommandId, report::CommandResult};

use super::pipeline::{Phase, Pipeline};
use crate::{
    effect::{Effect, Turn},
    record::PipelineRecord,
    run::Run,
};

impl Pipeline {
    /// Replaces the allowlist, and the port if `wanted` names another one. A repair changes nothing else (specification,
    /// section 1): a start in progress on the same port goes on, the repair is done at once, and whatever becomes of the
    /// start, the model stays wanted. `done` is the command's output on success.
    pub(super) fn repair(
        &mut self,
        (command, done): (CommandId, String),
        wanted: PipelineRecord,
        run: Run,
        turn: &mut Turn,
    ) {
        let port = wanted.config.port;
        let stays = port == self.record.config.port;
        match self.phase {
            Phase::Waiting { .. } | Phase::Reserving { .. } | Phase::Starting { .. } if stays => {
                self.take_over(wanted, turn);
                let is_starting = matches!(self.phase, Phase::Starting { .. });
                if is_starting || self.held == Some(port) {
                    turn.effects.push(Effect::ReplaceRoute(Self::route(&self.record, port, None)));
                }
                self.report_model(turn);
                turn.report_command(command, CommandResult::Succeeded, done);
            }
            // A model that rests after too many failures is tried again.
            Phase::Idle if stays && self.record.serve => {
                self.take_over(wanted, turn);
                self.reserve(run, turn);
                self.report_model(turn);
                turn.report_command(command, CommandResult::Succeeded, done);
            }
            Phase::Idle
            | Phase::Waiting { .. }
            | Phase::Reserving { .. }
            | Phase::Starting { .. }
            | Phase::Serving { .. }
            | Phase::Moving { .. }
            | Phase::Stopping { .. }
            | Phase::Removing => {
                self.wait_for_repair(command, done);
                self.become_record(wanted, run, turn);
            }
        }
    }
}
