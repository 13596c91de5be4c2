//! The repair of a pipeline: another allowlist for the same model.

use super::pipeline::{Phase, Pipeline};
use crate::{
    effect::{Effect, Turn},
    record::PipelineRecord,
    run::Run,
};

impl Pipeline {
    /// Replaces the allowlist, and the port if `wanted` names another one. While a crashed engine waits for its next start,
    /// a repair on the same port leaves that start alone; the port answers the pages of the new allowlist meanwhile.
    pub(super) fn repair(&mut self, wanted: PipelineRecord, run: Run, turn: &mut Turn) {
        let port = wanted.config.port;
        match self.phase {
            Phase::Waiting { .. } if port == self.record.config.port => {
                self.take_over(wanted, turn);
                if self.held == Some(port) {
                    turn.effects.push(Effect::ReplaceRoute(Self::route(&self.record, port, None)));
                }
                self.report_model(turn);
                self.succeed(turn);
            }
            Phase::Idle
            | Phase::Waiting { .. }
            | Phase::Reserving { .. }
            | Phase::Starting { .. }
            | Phase::Serving { .. }
            | Phase::Moving { .. }
            | Phase::Stopping { .. }
            | Phase::Removing => self.become_record(wanted, true, run, turn),
        }
    }
}
