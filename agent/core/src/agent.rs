//! The top-level state machine: passes each event to the responsible part, collects the changes to
//! store, and starts the next commands.
//!
//! The changes of a turn come first, as one [`Effect::Persist`]; a receipt, a report or any other
//! effect never precedes the change it depends on.

use link_protocol::{
    agent_api::{Hello, Welcome},
    command::{Command, ModelFile},
    id::{CommandId, PipelineId},
    local_api::ConnectionState,
    report::{CommandResult, LifecycleReport, LifecycleStatus, ModelReport, ModelState},
    signing::VerifyingKey,
    update::UpdateRequest,
};

use crate::{
    clock::{Now, ServerClock},
    deployment::{self, Deployments, EnginePart},
    effect::{Effect, Finished, Note, Turn},
    event::Event,
    ledger::Ledger,
    outbox::Outbox,
    record::{Identity, Report, Snapshot},
    run::Run,
    serving::{PipelineView, Pipelines},
    update::{Around, Update},
};

/// The agent's state and its decisions.
#[derive(Debug)]
pub struct Agent {
    identity: Identity,
    pinned: Vec<VerifyingKey>,
    clock: ServerClock,
    status: LifecycleStatus,
    connection: ConnectionState,
    ledger: Ledger,
    deployments: Deployments,
    pipelines: Pipelines,
    outbox: Outbox,
    update: Update,
    /// The pipelines listed in the last hello.
    announced: Vec<ModelReport>,
}

impl Agent {
    /// Restores the state from disk. The effects resume the work that was in progress.
    #[must_use]
    pub fn restore(
        identity: Identity,
        pinned: Vec<VerifyingKey>,
        snapshot: Snapshot,
        now: Now,
    ) -> (Self, Vec<Effect>) {
        let mut turn = Turn { now, ..Turn::default() };
        let outbox = Outbox::restore(snapshot.outbox, snapshot.last_report, &mut turn.changes);
        let pipelines = Pipelines::restore(snapshot.pipelines, &mut turn);
        let ledger = Ledger::restore(snapshot.commands, snapshot.last_seq);
        let mut agent = Self {
            identity,
            pinned,
            clock: ServerClock::default(),
            status: LifecycleStatus::Starting,
            connection: ConnectionState::Connecting,
            ledger,
            deployments: Deployments::default(),
            pipelines,
            outbox,
            update: Update::default(),
            announced: Vec::new(),
        };
        agent.report_lifecycle(LifecycleStatus::Starting, &mut turn);
        let effects = agent.conclude(turn);
        (agent, effects)
    }

    /// Applies `event` and returns the effects, in the order they must run.
    #[must_use]
    pub fn handle(&mut self, event: Event, now: Now) -> Vec<Effect> {
        let mut turn = Turn { now, ..Turn::default() };
        let turn_ref = &mut turn;
        match event {
            Event::Welcomed(welcome) => self.welcomed(welcome, turn_ref),
            Event::Polled { server_time, commands } => {
                self.clock.set(server_time, now);
                self.accept_all(commands, turn_ref);
            }
            Event::Disconnected => self.connection = ConnectionState::Connecting,
            Event::TurnedAway { reason } => {
                self.connection = ConnectionState::Refused;
                turn.effects.push(Effect::Log(Note::Refused { reason }));
            }
            Event::ReportSent { id } => self.outbox.sent(id, &mut turn.changes),
            Event::ReportDeferred { id, retry_after } => {
                self.outbox.deferred(id, now, retry_after);
            }
            Event::ReportUnauthorized { id, reason } => {
                self.outbox.unauthorized(id, reason, &mut turn.changes);
            }
            Event::ReportRefused { id, reason } => {
                self.outbox.refused(id, reason, &mut turn.changes);
            }
            Event::DownloadProgressed { download, bytes_done } => {
                self.deployments.progressed(download, bytes_done, turn_ref);
            }
            Event::EngineProgressed { download, build, bytes_done, bytes_total } => {
                let engine = EnginePart { build, bytes_done, bytes_total };
                self.deployments.engine_progressed(download, engine, turn_ref);
            }
            Event::DownloadEnded { download, outcome } => {
                let in_use = |file: &ModelFile| self.pipelines.use_file(file);
                let ready = self.deployments.download_ended(download, outcome, in_use, turn_ref);
                if let Some((command, deploy, downloaded)) = ready {
                    let done = deployment::completed(&deploy, downloaded);
                    let first = self.ledger.first_generation(command);
                    self.pipelines.configure(command, deploy, first, done, turn_ref);
                }
            }
            Event::PortReserved { pipeline_id, run, port, outcome } => {
                self.pipelines.port_reserved(pipeline_id, run, port, outcome, turn_ref);
            }
            Event::EngineComing { pipeline_id, run } => self.engine_coming(pipeline_id, run, now),
            Event::EngineReady { pipeline_id, run } => {
                self.pipelines.engine_ready(pipeline_id, run, turn_ref);
            }
            Event::EngineLooked { pipeline_id, run, sign } => {
                self.pipelines.engine_looked(pipeline_id, run, sign, turn_ref);
            }
            Event::EngineEnded { pipeline_id, run, reason } => {
                self.pipelines.engine_ended(pipeline_id, run, &reason, turn_ref);
            }
            Event::EngineStopped { pipeline_id, run } => {
                self.pipelines.engine_stopped(pipeline_id, run, turn_ref);
            }
            Event::ModelDeleted { pipeline_id, outcome } => {
                self.pipelines.model_deleted(pipeline_id, outcome, turn_ref);
            }
            Event::Wished(wish) => self.grant(wish, turn_ref),
            Event::UpdateAsked(request) => self.begin_update(None, request, turn_ref),
            Event::UpdateStaged(staged) => {
                self.update.ended(staged, turn_ref);
                if !self.update.is_running() {
                    self.leave_update(turn_ref);
                }
            }
            Event::UpdateSettled(outcome) => {
                self.identity.last_update = Some(outcome);
                self.report_lifecycle(self.status, turn_ref);
            }
            Event::DeadlineReached => self.check_deadlines(turn_ref),
        }
        self.conclude(turn)
    }

    /// Returns the time of the next [`Event::DeadlineReached`], if any deadline is set.
    #[must_use]
    pub fn deadline(&self) -> Option<Now> {
        let parts = [self.outbox.deadline(), self.ledger.deadline(), self.pipelines.deadline()];
        parts.into_iter().flatten().min()
    }

    /// Returns the hello: the state of this device, sent when a connection starts.
    #[must_use]
    pub fn hello(&self) -> Hello {
        Hello {
            epoch: self.identity.epoch,
            boot_id: self.identity.boot_id.clone(),
            agent_version: self.identity.agent_version.clone(),
            last_seq: self.ledger.last_seq(),
            inflight: self.ledger.inflight(),
            serving: self.known_models(),
        }
    }

    /// Returns the models of this device, and removed models whose removal report the backend has not accepted. If the
    /// hello left such a model out, the backend would take it for lost and deploy it again.
    fn known_models(&self) -> Vec<ModelReport> {
        let mut known = self.pipelines.reports();
        for removal in self.outbox.removals() {
            if !known.iter().any(|report| report.pipeline_id == removal.pipeline_id) {
                known.push(removal.clone());
            }
        }
        known
    }

    /// Returns [`Agent::hello`] and records which pipelines it announces.
    pub fn say_hello(&mut self) -> Hello {
        self.announced = self.pipelines.reports();
        self.hello()
    }

    /// Returns the lifecycle status.
    #[must_use]
    pub const fn status(&self) -> LifecycleStatus {
        self.status
    }

    /// Returns the state of the command channel.
    #[must_use]
    pub const fn connection(&self) -> ConnectionState {
        self.connection
    }

    /// Returns whether the backend does not have the result of a command yet.
    #[must_use]
    pub fn owes_a_result(&self) -> bool {
        self.outbox.owes_a_result()
    }

    /// Returns all configured pipelines.
    pub fn pipelines(&self) -> impl Iterator<Item = PipelineView<'_>> {
        self.pipelines.views()
    }

    fn welcomed(&mut self, welcome: Welcome, turn: &mut Turn) {
        if let Some(signed) = &welcome.handover
            && self.take_handover(signed, turn)
        {
            return;
        }
        self.clock.set(welcome.server_time, turn.now);
        self.connection = ConnectionState::Connected;
        self.outbox.welcomed();
        if self.status != LifecycleStatus::Online && !self.update.is_running() {
            self.report_lifecycle(LifecycleStatus::Online, turn);
        }
        let here = self.pipelines.reports();
        for gone in std::mem::take(&mut self.announced) {
            // The report of this pipeline's removal may have reached the backend before the hello
            // that lists the pipeline, so report the removal again.
            if !here.iter().any(|report| report.pipeline_id == gone.pipeline_id) {
                let told = self.outbox.removal_of(gone.pipeline_id).cloned();
                turn.reports.push(Report::Model(told.unwrap_or_else(|| ModelReport {
                    state: ModelState::Removed,
                    is_serving: false,
                    generation: gone.generation.next(),
                    ..gone
                })));
            }
        }
        turn.reports.extend(here.into_iter().map(Report::Model));
        self.accept_all(welcome.commands, turn);
    }

    /// Sets the lifecycle status and reports it.
    fn report_lifecycle(&mut self, status: LifecycleStatus, turn: &mut Turn) {
        self.status = status;
        turn.reports.push(Report::Lifecycle(LifecycleReport {
            status,
            agent_version: self.identity.agent_version.clone(),
            uptime_s: turn.now.as_secs(),
            update: self.identity.last_update.clone(),
        }));
    }

    fn begin_update(
        &mut self,
        command: Option<CommandId>,
        request: UpdateRequest,
        turn: &mut Turn,
    ) {
        let connected = self.connection == ConnectionState::Connected;
        let around = Around { own_version: &self.identity.agent_version, connected };
        self.update.begin(command, request, around, turn);
        if self.update.is_running() && self.status != LifecycleStatus::Updating {
            self.report_lifecycle(LifecycleStatus::Updating, turn);
        }
    }

    /// Returns to normal operation of the current version after an update that did not replace it.
    fn leave_update(&mut self, turn: &mut Turn) {
        let status = match self.connection {
            ConnectionState::Connected => LifecycleStatus::Online,
            ConnectionState::Connecting | ConnectionState::Refused => LifecycleStatus::Starting,
        };
        self.report_lifecycle(status, turn);
    }

    fn run(&mut self, id: CommandId, command: Command, turn: &mut Turn) {
        if let Some(newer) = self.ledger.replaced_by(id) {
            let output = format!("nothing changed: the newer command {newer} replaced this one");
            turn.report_command(id, CommandResult::Cancelled, output);
            return;
        }
        match command {
            Command::DeployModel(deploy) | Command::UpdateModel(deploy) => {
                self.deployments.begin(id, deploy, turn);
            }
            Command::CancelDeploy(cancel) => self.cancel(id, &cancel, turn),
            Command::StartServing(start) => self.pipelines.serve(id, &start, turn),
            Command::StopServing(stop) => self.pipelines.stop(id, stop.pipeline_id, turn),
            Command::RepairServing(repair) => self.pipelines.repair(id, &repair, turn),
            Command::UpdatePipeline(update) => self.pipelines.update(id, update, turn),
            Command::UninstallModel(uninstall) => {
                self.pipelines.uninstall(id, uninstall.pipeline_id, turn);
            }
            Command::UpdateAgent(update) => {
                let version = Some(update.version);
                let request = UpdateRequest { version, ..UpdateRequest::default() };
                self.begin_update(Some(id), request, turn);
            }
        }
    }

    /// Restarts the timeout of a start, and of the command that waits for the start, while the engine is being downloaded.
    fn engine_coming(&mut self, pipeline: PipelineId, run: Run, now: Now) {
        if let Some(command) = self.pipelines.engine_coming(pipeline, run, now) {
            self.ledger.extend(command, now);
        }
    }

    fn check_deadlines(&mut self, turn: &mut Turn) {
        self.pipelines.check_deadlines(turn);
        while let Some(command) = self.ledger.overdue(turn.now) {
            let reason = "the command timed out";
            self.deployments.stop(|id, _| id == command, CommandResult::Failed, reason, turn);
            self.pipelines.time_out(command, turn);
            // The command ends now, even if something blocks it. Its work in progress ends later on
            // its own.
            turn.report_command(command, CommandResult::Failed, reason);
            self.settle_finished(turn);
        }
    }

    /// Records finished commands, starts the next ones until none can run, then sends reports.
    fn conclude(&mut self, mut turn: Turn) -> Vec<Effect> {
        self.settle_finished(&mut turn);
        while let Some((id, command)) = self.ledger.start_next(turn.now) {
            self.run(id, command, &mut turn);
            self.settle_finished(&mut turn);
        }
        for report in std::mem::take(&mut turn.reports) {
            self.outbox.push(report, &mut turn.changes);
        }
        self.outbox.pump(turn.now, &mut turn.effects);
        if !turn.changes.is_empty() {
            turn.effects.insert(0, Effect::Persist(turn.changes));
        }
        turn.effects
    }

    fn settle_finished(&mut self, turn: &mut Turn) {
        while let Some(Finished { command, status, output }) = turn.finished.pop_front() {
            for cancel in self.deployments.forget(command) {
                let output = format!("the deployment has ended: {status}");
                turn.report_command(cancel, CommandResult::Succeeded, output);
            }
            let Some(report) = self.ledger.finish(command, status, &output, &mut turn.changes)
            else {
                continue;
            };
            let note = Note::Finished { command: command.to_string(), result: status.to_string() };
            turn.effects.push(Effect::Log(note));
            turn.reports.push(Report::Command(report));
        }
    }
}

mod accept;
mod handover;
mod waiting;
mod wish;

#[cfg(test)]
mod tests;
