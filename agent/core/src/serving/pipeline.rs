//! One pipeline: its record, its phase, and the command that waits for it.

use link_protocol::{
    allowlist::Allowlist,
    counter::Generation,
    id::CommandId,
    limits,
    port::Port,
    report::{CommandResult, ModelReport, ModelState},
};

use super::PipelineView;
use crate::{
    backoff::Backoff,
    clock::Now,
    effect::{Effect, Route, Turn},
    record::{Change, PipelineRecord, Report},
    run::Run,
};

/// The number of automatic restarts before the pipeline rests until a person or a command acts.
const TRIES: u32 = 8;

/// A pipeline of this device.
#[derive(Debug)]
pub(super) struct Pipeline {
    pub(super) record: PipelineRecord,
    pub(super) phase: Phase,
    waiter: Option<Waiter>,
    detail: Option<String>,
    /// The public port, held regardless of the engine: from the engine's first answer until the
    /// model should no longer be served there.
    pub(super) held: Option<Port>,
    /// The time at which the engine began to serve.
    began: Now,
    backoff: Backoff,
}

#[derive(Debug)]
struct Waiter {
    /// `None` if a person waits, who watches the state.
    command: Option<CommandId>,
    done: String,
    /// Whether the start was asked for: if it fails, the model stays off. A repair asks for no start.
    demands_start: bool,
    /// The report that goes before the result if the command succeeds.
    completes: Option<Report>,
}

/// The phase of a pipeline. `port` is the port it holds.
#[derive(Debug)]
pub(super) enum Phase {
    Idle,
    /// The pipeline restarts at `until`.
    Waiting {
        until: Now,
    },
    /// The public port is being reserved, with the route of the record's `generation`.
    Reserving {
        run: Run,
        port: Port,
        generation: Generation,
    },
    /// The engine is loading.
    Starting {
        run: Run,
        port: Port,
        deadline: Now,
    },
    /// The engine answers requests.
    Serving {
        run: Run,
        port: Port,
    },
    /// The engine answers requests on `port` while another port is being reserved.
    Moving {
        run: Run,
        port: Port,
        reserve: Run,
        wanted: Box<PipelineRecord>,
    },
    /// The engine is stopping; `then` is the next step.
    Stopping {
        run: Run,
        then: Then,
    },
    /// The files are being deleted.
    Removing,
}

/// The next step after an engine has stopped.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Then {
    Rest,
    StartAgain,
    /// Restarts after a wait, unless it failed too often.
    TryAgain,
    Remove,
}

impl Pipeline {
    pub(super) const fn idle(record: PipelineRecord) -> Self {
        let backoff = Backoff::new();
        let (phase, began) = (Phase::Idle, Now::ZERO);
        Self { record, phase, waiter: None, detail: None, held: None, began, backoff }
    }

    /// Makes `command` wait until the pipeline serves or rests. `done` is the command's output on
    /// success.
    pub(super) fn wait(&mut self, command: CommandId, done: String) {
        self.waiter =
            Some(Waiter { command: Some(command), done, demands_start: true, completes: None });
        self.backoff = Backoff::new();
    }

    /// Makes a repair wait. Whether the model is to be served, and how often a start was tried, stay as they are.
    pub(super) fn wait_for_repair(&mut self, command: CommandId, done: String) {
        self.waiter =
            Some(Waiter { command: Some(command), done, demands_start: false, completes: None });
    }

    /// Marks that a person waits for the outcome; a failed start is then not retried.
    pub(super) fn wait_for_person(&mut self) {
        self.waiter = Some(Waiter {
            command: None,
            done: String::new(),
            demands_start: true,
            completes: None,
        });
        self.backoff = Backoff::new();
    }

    pub(super) const fn is_awaited(&self) -> bool {
        self.waiter.is_some()
    }

    /// Returns whether somebody asked for the start and waits for it.
    pub(super) fn starts_on_demand(&self) -> bool {
        self.waiter.as_ref().is_some_and(|waiter| waiter.demands_start)
    }

    /// Returns the command that waits until the pipeline serves or rests.
    pub(super) fn awaited_by(&self) -> Option<CommandId> {
        self.waiter.as_ref().and_then(|waiter| waiter.command)
    }

    pub(super) fn is_awaited_by(&self, command: CommandId) -> bool {
        self.awaited_by() == Some(command)
    }

    pub(super) fn succeed(&mut self, turn: &mut Turn) {
        if let Some(Waiter { command: Some(command), done, completes, .. }) = self.waiter.take() {
            turn.reports.extend(completes);
            turn.report_command(command, CommandResult::Succeeded, done);
        }
    }

    /// Reports a deployment as completed: now, or once the pipeline has moved to another port. Until then the
    /// deployment can fail, and leaves the pipeline as it was.
    pub(super) fn complete(&mut self, report: Report, turn: &mut Turn) {
        match (&self.phase, &mut self.waiter) {
            (Phase::Moving { .. }, Some(waiter)) => waiter.completes = Some(report),
            _ => turn.reports.push(report),
        }
    }

    pub(super) fn fail(&mut self, status: CommandResult, reason: &str, turn: &mut Turn) {
        if let Some(Waiter { command: Some(command), .. }) = self.waiter.take() {
            turn.report_command(command, status, reason);
        }
    }

    pub(super) fn view(&self) -> PipelineView<'_> {
        let engine_run = match self.phase {
            Phase::Starting { run, .. }
            | Phase::Serving { run, .. }
            | Phase::Moving { run, .. }
            | Phase::Stopping { run, .. } => Some(run),
            Phase::Idle | Phase::Waiting { .. } | Phase::Reserving { .. } | Phase::Removing => None,
        };
        PipelineView {
            record: &self.record,
            state: self.state(),
            engine_run,
            detail: self.detail.as_deref(),
        }
    }

    pub(super) fn report(&self) -> ModelReport {
        let config = &self.record.config;
        let state = self.state();
        ModelReport {
            model_id: config.model_id,
            pipeline_id: config.pipeline_id,
            state,
            is_serving: state == ModelState::Serving,
            port: config.port,
            allowlist_digest: config.allowlist.digest().to_owned(),
            generation: self.record.generation,
            detail: self.detail.clone(),
        }
    }

    pub(super) const fn deadline(&self) -> Option<Now> {
        match self.phase {
            Phase::Waiting { until } => Some(until),
            Phase::Starting { deadline, .. } => Some(deadline),
            Phase::Idle
            | Phase::Reserving { .. }
            | Phase::Serving { .. }
            | Phase::Moving { .. }
            | Phase::Stopping { .. }
            | Phase::Removing => None,
        }
    }

    pub(super) fn report_model(&self, turn: &mut Turn) {
        turn.reports.push(Report::Model(self.report()));
    }

    pub(super) fn save(&self, turn: &mut Turn) {
        turn.changes.push(Change::PutPipeline(self.record.clone()));
    }

    /// Returns the route that `record` describes, on `port`.
    pub(super) fn route(record: &PipelineRecord, port: Port, engine: Option<Run>) -> Route {
        Route {
            pipeline_id: record.config.pipeline_id,
            model_id: record.config.model_id,
            alias: record.config.alias.clone(),
            plugin: record.config.plugin.clone(),
            port,
            allowlist: if record.config.proxy.cors {
                record.config.allowlist.clone()
            } else {
                Allowlist::new([])
            },
            telemetry: record.config.proxy.telemetry,
            generation: record.generation,
            engine,
        }
    }

    /// Reserves the public port; the engine starts once the port is reserved.
    pub(super) fn reserve(&mut self, run: Run, turn: &mut Turn) {
        let port = self.record.config.port;
        self.let_go_unless(self.held == Some(port), turn);
        self.detail = None;
        self.phase = Phase::Reserving { run, port, generation: self.record.generation };
        turn.effects
            .push(Effect::ReservePort { run, route: Self::route(&self.record, port, None) });
    }

    /// Starts the engine behind the reserved port.
    pub(super) fn start_engine(&mut self, run: Run, port: Port, turn: &mut Turn) {
        let deadline = turn.now + limits::ENGINE_HEALTH_TIMEOUT;
        self.phase = Phase::Starting { run, port, deadline };
        turn.effects.push(Effect::StartEngine {
            pipeline_id: self.record.config.pipeline_id,
            run,
            plugin: self.record.config.plugin.clone(),
            settings: self.record.config.settings.clone(),
            alias: self.record.config.alias.clone(),
            file: self.record.file.clone(),
        });
        self.report_model(turn);
    }

    pub(super) fn release(&self, port: Port, turn: &mut Turn) {
        let pipeline_id = self.record.config.pipeline_id;
        turn.effects.push(Effect::ReleasePort { pipeline_id, port });
    }

    /// Returns whether the pipeline has `port` or is reserving it.
    pub(super) fn needs(&self, port: Port) -> bool {
        if self.held == Some(port) {
            return true;
        }
        match self.phase {
            Phase::Reserving { port: mine, .. }
            | Phase::Starting { port: mine, .. }
            | Phase::Serving { port: mine, .. } => mine == port,
            Phase::Moving { port: mine, ref wanted, .. } => {
                mine == port || wanted.config.port == port
            }
            Phase::Idle | Phase::Waiting { .. } | Phase::Stopping { .. } | Phase::Removing => false,
        }
    }

    /// Frees `port`, unless it is held for a model that should be served there. In that case the
    /// port answers that the engine is not ready.
    pub(super) fn release_unless_held(&mut self, port: Port, wanted: bool, turn: &mut Turn) {
        if wanted && self.held == Some(port) && self.record.config.port == port {
            turn.effects.push(Effect::ReplaceRoute(Self::route(&self.record, port, None)));
        } else {
            self.held.take_if(|held| *held == port);
            self.release(port, turn);
        }
    }

    /// Frees the held port, if there is one, unless `stays` is set.
    pub(super) fn let_go_unless(&mut self, stays: bool, turn: &mut Turn) {
        if let Some(port) = self.held.take_if(|_| !stays) {
            self.release(port, turn);
        }
    }

    pub(super) fn stop_engine(&self, run: Run, turn: &mut Turn) {
        let pipeline_id = self.record.config.pipeline_id;
        turn.effects.push(Effect::StopEngine { pipeline_id, run });
    }

    /// Records why the engine is being stopped, to be shown when it has stopped.
    pub(super) fn explain(&mut self, reason: &str) {
        self.detail = Some(reason.to_owned());
    }

    pub(super) fn take_explanation(&mut self) -> Option<String> {
        self.detail.take()
    }

    /// Marks the engine as serving.
    pub(super) fn serves(&mut self, run: Run, port: Port, now: Now) {
        self.phase = Phase::Serving { run, port };
        self.held = Some(port);
        self.began = now;
        self.detail = None;
    }

    /// Schedules a restart after the engine ended or failed to start, up to [`TRIES`] times.
    pub(super) fn try_again(&mut self, served: bool, reason: &str, turn: &mut Turn) {
        let ran = if served { turn.now.saturating_sub(self.began) } else { Now::ZERO };
        let wait = self.backoff.ended(ran);
        if self.backoff.failures() > TRIES {
            self.backoff = Backoff::new();
            return self
                .rest(Some(format!("{reason}; not restarted again after {TRIES} attempts")), turn);
        }
        self.detail = Some(format!("{reason}; restarting in {} s", wait.as_secs()));
        self.phase = Phase::Waiting { until: turn.now + wait };
        self.report_model(turn);
    }

    /// Comes to rest without serving, and records the reason.
    pub(super) fn rest(&mut self, detail: Option<String>, turn: &mut Turn) {
        self.let_go_unless(self.record.serve, turn);
        self.phase = Phase::Idle;
        self.detail = detail;
        self.report_model(turn);
    }

    fn state(&self) -> ModelState {
        match self.phase {
            Phase::Idle | Phase::Waiting { .. } => ModelState::NotServing,
            Phase::Reserving { .. } | Phase::Starting { .. } => ModelState::Starting,
            Phase::Serving { .. } | Phase::Moving { .. } => ModelState::Serving,
            Phase::Stopping { then: Then::StartAgain | Then::TryAgain, .. } => ModelState::Starting,
            Phase::Stopping { then: Then::Rest | Then::Remove, .. } | Phase::Removing => {
                ModelState::Stopping
            }
        }
    }
}
