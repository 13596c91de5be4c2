//! The transitions of a pipeline: requests, and the outcomes of ports and engines.
//!
//! Match the event first, then the phase. A late outcome of a run that is over frees the port it
//! reserved and changes nothing else.

use link_protocol::{id::PipelineId, port::Port, report::CommandResult};

use super::{
    Pipelines,
    pipeline::{Phase, Pipeline, Then},
};
use crate::{
    effect::{Effect, Turn},
    record::PipelineRecord,
    run::Run,
};

const BEING_REMOVED: &str = "the model is being removed";

impl Pipeline {
    /// Brings the pipeline to `wanted`; `run` numbers the engine or reservation that this may
    /// start.
    pub(super) fn become_record(&mut self, wanted: PipelineRecord, run: Run, turn: &mut Turn) {
        let same_engine = self.record.shares_engine_with(&wanted);
        let file_changed = wanted.file.sha256 != self.record.file.sha256;
        match self.phase {
            Phase::Serving { run: engine, port } if same_engine && port == wanted.config.port => {
                self.take_over(wanted, turn);
                let route = Self::route(&self.record, port, Some(engine));
                turn.effects.push(Effect::ReplaceRoute(route));
                self.report_model(turn);
                self.succeed(turn);
            }
            // The old port serves until the new one is reserved, so a failed move changes nothing.
            Phase::Serving { run: engine, port } if same_engine => {
                let route = Self::route(&wanted, wanted.config.port, None);
                let wanted = Box::new(wanted);
                self.phase = Phase::Moving { run: engine, port, reserve: run, wanted };
                turn.effects.push(Effect::ReservePort { run, route });
            }
            // The engine continues to load; the command ends when the engine is ready.
            Phase::Starting { port, .. } if same_engine && port == wanted.config.port => {
                self.take_over(wanted, turn);
                turn.effects.push(Effect::ReplaceRoute(Self::route(&self.record, port, None)));
                self.report_model(turn);
            }
            // Stop the old engine first, because the machine may not have room for two. The port
            // stays reserved, so that no other program can answer for the model.
            Phase::Serving { run: engine, port } | Phase::Starting { run: engine, port, .. } => {
                self.take_over(wanted, turn);
                self.release_unless_held(port, true, turn);
                self.stop_engine(engine, turn);
                self.phase = Phase::Stopping { run: engine, then: Then::StartAgain };
                self.report_model(turn);
            }
            Phase::Moving { run: engine, port, .. } => {
                // Only a command of this pipeline moves it, and commands of one model run in order.
                // So only a timeout leads here, and the newer request starts over.
                self.take_over(wanted, turn);
                self.release_unless_held(port, true, turn);
                self.stop_engine(engine, turn);
                self.phase = Phase::Stopping { run: engine, then: Then::StartAgain };
            }
            Phase::Idle | Phase::Waiting { .. } | Phase::Reserving { .. } => {
                self.take_over(wanted, turn);
                if self.record.serve {
                    self.reserve(run, turn);
                } else {
                    self.rest(None, turn);
                    self.succeed(turn);
                }
            }
            Phase::Stopping { then: Then::Remove, .. } | Phase::Removing => {
                self.fail(CommandResult::Failed, BEING_REMOVED, turn);
            }
            Phase::Stopping {
                run: engine,
                then: Then::Rest | Then::StartAgain | Then::TryAgain,
            } => {
                // Nothing starts before the engine has ended. Only the step after its end changes.
                self.take_over(wanted, turn);
                let stays = self.record.serve && self.held == Some(self.record.config.port);
                self.let_go_unless(stays, turn);
                let then = if self.record.serve { Then::StartAgain } else { Then::Rest };
                self.phase = Phase::Stopping { run: engine, then };
            }
        }
        // Prune last, when no record refers to the other files.
        if file_changed {
            turn.effects.push(Effect::PruneModel { keep: self.record.file.clone() });
        }
    }

    /// Stops serving; the model stays deployed.
    pub(super) fn stop(&mut self, turn: &mut Turn) {
        if self.is_being_removed() {
            return self.fail(CommandResult::Failed, BEING_REMOVED, turn);
        }
        if self.record.serve || self.record.explicit {
            self.record.serve = false;
            self.record.explicit = false;
            self.record.advance();
            self.save(turn);
        }
        // An engine that this command has interrupted while it started ends because of the command, and of nothing else.
        self.take_explanation();
        if self.end_engine(Then::Rest, turn) {
            self.report_model(turn);
        } else {
            self.rest(None, turn);
            self.succeed(turn);
        }
    }

    /// Stops serving, then deletes the model.
    pub(super) fn remove(&mut self, turn: &mut Turn) {
        if matches!(self.phase, Phase::Removing) {
            // The files are being deleted; the waiting command ends when they are gone.
            return;
        }
        let wanted = PipelineRecord { serve: false, removing: true, ..self.record.clone() };
        self.take_over(wanted, turn);
        if self.end_engine(Then::Remove, turn) {
            self.report_model(turn);
        } else {
            self.phase = Phase::Removing;
            Pipelines::delete_files(self, turn);
        }
    }

    /// Aborts a start or move in progress; does not affect a pipeline that serves, stops or is
    /// being removed.
    pub(super) fn abort_start(&mut self, status: CommandResult, reason: &str, turn: &mut Turn) {
        match self.phase {
            Phase::Waiting { .. }
            | Phase::Reserving { .. }
            | Phase::Starting { .. }
            | Phase::Stopping { then: Then::StartAgain | Then::TryAgain, .. } => {
                self.forget_wish();
                self.save(turn);
                self.explain(reason);
                if !self.end_engine(Then::Rest, turn) {
                    self.rest(Some(reason.to_owned()), turn);
                }
                self.fail(status, reason, turn);
            }
            // The reservation of the new port may still succeed. Its outcome then frees the port.
            Phase::Moving { run, port, .. } => {
                self.phase = Phase::Serving { run, port };
                self.fail(status, reason, turn);
            }
            Phase::Idle
            | Phase::Serving { .. }
            | Phase::Stopping { then: Then::Rest | Then::Remove, .. }
            | Phase::Removing => {}
        }
    }

    /// Clears the request to serve after a requested start failed: START_SERVING then has started nothing (section 4.2). A
    /// resumed start keeps it, because nobody asked to stop the model: the next start of the agent retries.
    fn forget_wish(&mut self) {
        if self.starts_on_demand() {
            self.record.serve = false;
            self.record.explicit = false;
        }
    }

    pub(super) const fn is_being_removed(&self) -> bool {
        matches!(self.phase, Phase::Stopping { then: Then::Remove, .. } | Phase::Removing)
    }

    /// Stops the engine, and frees the port unless it is held for a model that is still wanted.
    /// Returns false if there is no engine to wait for.
    fn end_engine(&mut self, then: Then, turn: &mut Turn) -> bool {
        let wanted = self.record.serve;
        match self.phase {
            Phase::Starting { run, port, .. }
            | Phase::Serving { run, port }
            | Phase::Moving { run, port, .. } => {
                self.release_unless_held(port, wanted, turn);
                self.stop_engine(run, turn);
                self.phase = Phase::Stopping { run, then };
                true
            }
            Phase::Stopping { run, .. } => {
                self.let_go_unless(wanted, turn);
                self.phase = Phase::Stopping { run, then };
                true
            }
            // A port that is still being reserved is freed when its outcome arrives.
            Phase::Idle | Phase::Waiting { .. } | Phase::Reserving { .. } | Phase::Removing => {
                self.let_go_unless(wanted, turn);
                false
            }
        }
    }

    pub(super) fn take_over(&mut self, wanted: PipelineRecord, turn: &mut Turn) {
        if self.record != wanted {
            self.record = wanted;
            self.save(turn);
        }
    }

    fn port_reserved(
        &mut self,
        run: Run,
        reserved: Port,
        outcome: Result<(), String>,
        turn: &mut Turn,
    ) {
        match (&self.phase, outcome) {
            (Phase::Reserving { run: expected, port, generation }, Ok(())) if *expected == run => {
                let (port, is_stale) = (*port, *generation != self.record.generation);
                if is_stale {
                    turn.effects.push(Effect::ReplaceRoute(Self::route(&self.record, port, None)));
                }
                self.start_engine(run, port, turn);
            }
            (Phase::Reserving { run: expected, .. }, Err(reason)) if *expected == run => {
                self.give_up(&reason, turn);
            }
            (Phase::Moving { reserve, run: engine, port, wanted }, Ok(())) if *reserve == run => {
                let (engine, old, wanted) = (*engine, *port, (**wanted).clone());
                let port = wanted.config.port;
                self.take_over(wanted, turn);
                let route = Self::route(&self.record, port, Some(engine));
                turn.effects.push(Effect::ReplaceRoute(route));
                self.release(old, turn);
                self.held = Some(port);
                self.phase = Phase::Serving { run: engine, port };
                self.report_model(turn);
                self.succeed(turn);
            }
            (Phase::Moving { reserve, run: engine, port, .. }, Err(reason)) if *reserve == run => {
                self.phase = Phase::Serving { run: *engine, port: *port };
                self.fail(CommandResult::Failed, &reason, turn);
            }
            // A newer request replaced this one. Free the port unless that request uses it too.
            (_, Ok(())) if !self.needs(reserved) => self.release(reserved, turn),
            (_, Ok(()) | Err(_)) => {}
        }
    }

    fn engine_ready(&mut self, run: Run, turn: &mut Turn) {
        if let Phase::Starting { run: expected, port, .. } = self.phase
            && expected == run
        {
            self.serves(run, port, turn.now);
            turn.effects.push(Effect::ReplaceRoute(Self::route(&self.record, port, Some(run))));
            self.report_model(turn);
            self.succeed(turn);
        }
    }

    fn engine_ended(&mut self, run: Run, reason: &str, turn: &mut Turn) {
        match self.phase {
            Phase::Starting { run: expected, port, .. } if expected == run => {
                self.release_unless_held(port, !self.starts_on_demand(), turn);
                self.give_up(reason, turn);
            }
            Phase::Serving { run: expected, port } | Phase::Moving { run: expected, port, .. }
                if expected == run =>
            {
                self.record.advance();
                self.release_unless_held(port, true, turn);
                self.save(turn);
                self.fail(CommandResult::Failed, reason, turn);
                self.try_again(true, reason, turn);
            }
            Phase::Idle
            | Phase::Waiting { .. }
            | Phase::Reserving { .. }
            | Phase::Starting { .. }
            | Phase::Serving { .. }
            | Phase::Moving { .. }
            | Phase::Stopping { .. }
            | Phase::Removing => {}
        }
    }

    /// Handles a failed start: reports the failure to a waiting command and rests, or retries if
    /// nobody waits.
    fn give_up(&mut self, reason: &str, turn: &mut Turn) {
        let wished = self.starts_on_demand();
        self.forget_wish();
        self.record.advance();
        self.save(turn);
        if wished {
            self.rest(Some(reason.to_owned()), turn);
        } else {
            self.try_again(false, reason, turn);
        }
        self.fail(CommandResult::Failed, reason, turn);
    }

    /// Handles a start that timed out: a waiting command ends with the reason, and a start that nobody asked for is
    /// tried again.
    pub(super) fn out_of_time(&mut self, reason: &str, turn: &mut Turn) {
        if self.starts_on_demand() {
            return self.abort_start(CommandResult::Failed, reason, turn);
        }
        self.explain(reason);
        self.end_engine(Then::TryAgain, turn);
        self.report_model(turn);
        self.fail(CommandResult::Failed, reason, turn);
    }
}

impl Pipelines {
    /// Handles the outcome of a port reservation.
    pub(crate) fn port_reserved(
        &mut self,
        id: PipelineId,
        run: Run,
        port: Port,
        outcome: Result<(), String>,
        turn: &mut Turn,
    ) {
        if let Some(pipeline) = self.all.get_mut(&id) {
            pipeline.port_reserved(run, port, outcome, turn);
        }
    }

    /// Handles an engine that became ready.
    pub(crate) fn engine_ready(&mut self, id: PipelineId, run: Run, turn: &mut Turn) {
        if let Some(pipeline) = self.all.get_mut(&id) {
            pipeline.engine_ready(run, turn);
        }
    }

    /// Handles an engine that could not start or died.
    pub(crate) fn engine_ended(&mut self, id: PipelineId, run: Run, reason: &str, turn: &mut Turn) {
        if let Some(pipeline) = self.all.get_mut(&id) {
            pipeline.engine_ended(run, reason, turn);
        }
    }

    /// Handles an engine that stopped at our request.
    pub(crate) fn engine_stopped(&mut self, id: PipelineId, run: Run, turn: &mut Turn) {
        let Some(pipeline) = self.all.get_mut(&id) else { return };
        let Phase::Stopping { run: expected, then } = pipeline.phase else { return };
        if expected != run {
            return;
        }
        match then {
            Then::Rest => {
                let detail = pipeline.take_explanation();
                pipeline.rest(detail, turn);
                pipeline.succeed(turn);
            }
            Then::StartAgain => self.start(id, turn),
            Then::TryAgain => {
                let reason = pipeline.take_explanation().unwrap_or_default();
                pipeline.try_again(false, &reason, turn);
            }
            Then::Remove => {
                pipeline.phase = Phase::Removing;
                Self::delete_files(pipeline, turn);
            }
        }
    }

    /// Handles the outcome of deleting a model's files.
    pub(crate) fn model_deleted(
        &mut self,
        id: PipelineId,
        outcome: Result<(), String>,
        turn: &mut Turn,
    ) {
        let Some(pipeline) = self.all.get_mut(&id) else { return };
        if !matches!(pipeline.phase, Phase::Removing) {
            return;
        }
        match outcome {
            Ok(()) => self.finish_removal(id, turn),
            Err(reason) => {
                pipeline.record.removing = false;
                pipeline.save(turn);
                pipeline.rest(Some(reason.clone()), turn);
                pipeline.fail(CommandResult::Failed, &reason, turn);
            }
        }
    }
}
