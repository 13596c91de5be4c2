//! The repair of a pipeline: another allowlist for the same model.

use super::pipeline::{Phase, Pipeline};
use crate::{
    effect::{Effect, Turn},
    record::PipelineRecord,
    run::Run,
};

impl Pipeline {
    /// Replaces the allowlist, and the port if `wanted` names another one. A repair leaves an engine alone that has ended
    /// and waits for its next start: its port is ours, and answers the pages of the new list.
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
