//! The transitions that time alone causes: start timeouts of engines, and restarts after a wait.

use link_protocol::{limits, report::CommandResult};

use crate::{
    effect::Turn,
    serving::{
        Pipelines,
        pipeline::{Phase, Pipeline},
    },
};

impl Pipeline {
    /// Ends what the waiting command asked for. A start for which a repair waits goes on, since the repair has not asked
    /// for it; a move to another port does not.
    pub(super) fn time_out(&mut self, reason: &str, turn: &mut Turn) {
        if self.starts_on_demand() || matches!(self.phase, Phase::Moving { .. }) {
            self.abort_start(CommandResult::Failed, reason, turn);
        }
        self.fail(CommandResult::Failed, reason, turn);
    }
}

impl Pipelines {
    /// Stops engines that did not become ready in time, and restarts pipelines whose wait is over.
    pub(crate) fn check_deadlines(&mut self, turn: &mut Turn) {
        let limit = limits::ENGINE_HEALTH_TIMEOUT.as_secs();
        let reason = format!("the engine was not healthy within {limit} s");
        let mut due = Vec::new();
        for (id, pipeline) in &mut self.all {
            if pipeline.deadline().is_none_or(|deadline| deadline > turn.now) {
                continue;
            }
            if matches!(pipeline.phase, Phase::Waiting { .. }) {
                due.push(*id);
            } else {
                pipeline.out_of_time(&reason, turn);
            }
        }
        due.into_iter().for_each(|id| self.start(id, turn));
    }
}
