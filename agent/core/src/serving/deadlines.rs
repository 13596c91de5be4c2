//! The transitions that time alone causes (start timeouts of engines, restarts after a wait), and the extension of a start.

use link_protocol::{
    id::{CommandId, PipelineId},
    limits,
    report::CommandResult,
};

use crate::{
    clock::Now,
    effect::Turn,
    run::Run,
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
    /// Handles an engine that is being downloaded: its start timeout begins after the download. Returns the command that waits for
    /// the start.
    pub(crate) fn engine_coming(
        &mut self,
        id: PipelineId,
        run: Run,
        now: Now,
    ) -> Option<CommandId> {
        let pipeline = self.all.get_mut(&id)?;
        let Phase::Starting { run: expected, deadline, .. } = &mut pipeline.phase else {
            return None;
        };
        if *expected != run {
            return None;
        }
        *deadline = now + limits::ENGINE_HEALTH_TIMEOUT;
        pipeline.awaited_by()
    }

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
