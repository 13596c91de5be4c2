//! The device: the agent's core, and a shell that runs its effects on a model of the world.
//!
//! The process may die before any effect. Then everything that is not on disk is lost, and so is
//! every engine, port and connection. The shell checks at every effect: a receipt or a report
//! mentions only what is on disk; reports go in order, one at a time; only the holder of a port
//! frees it; a pipeline has one engine at a time, its own port and a complete file; nothing is
//! downloaded for a command that is done.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    time::Duration,
};

use link_agent_core::{
    agent::Agent,
    effect::{Effect, Route},
    event::{Event, Staged},
    record::{Change, DownloadId, Identity, OutboxEntry, Steps},
    run::Run,
    serving::Sign,
};
use link_protocol::{
    command::ModelFile,
    counter::Epoch,
    envelope::{Receipt, ReceiptKind},
    id::{DeviceId, PipelineId},
    port::Port,
    signing::VerifyingKey,
};
use semver::Version;

use super::{
    disk::Disk,
    mutants::Mutant,
    network::{Agenda, Faults, Input, Item, Message, Ms, Network, SECOND},
    random::Random,
    tally::{Tally, Trace},
};

/// The surroundings of the device.
pub(super) struct Around<'a> {
    pub(super) agenda: &'a mut Agenda,
    pub(super) random: &'a mut Random,
    pub(super) faults: &'a Faults,
    pub(super) network: &'a Network,
    pub(super) tally: &'a mut Tally,
    pub(super) trace: &'a mut Trace,
}

/// An engine process.
#[derive(Clone, Debug)]
pub(super) struct Engine {
    pub(super) ready: bool,
    /// Whether it was asked to stop.
    pub(super) stopping: bool,
    /// Whether it has ended, but the core does not know yet.
    pub(super) ended: bool,
}

/// The simulated device.
pub(super) struct Device {
    pub(super) id: DeviceId,
    pub(super) epoch: Epoch,
    pinned: Vec<VerifyingKey>,
    pub(super) mutant: Mutant,
    pub(super) disk: Disk,
    pub(super) boot: u64,
    pub(super) booted_at: Ms,
    /// How far the process's clock lags behind, because the device slept.
    pub(super) lag: Ms,
    pub(super) frozen_until: Ms,
    pub(super) agent: Option<Agent>,
    /// The newest request on the control line.
    pub(super) request: u64,
    pub(super) frontends: BTreeMap<Port, BTreeMap<PipelineId, Route>>,
    /// The port on which an engine has answered, for each model that is still to serve there.
    pub(super) answered: BTreeMap<PipelineId, Port>,
    /// Ports that other programs use.
    pub(super) foreign: BTreeSet<Port>,
    pub(super) engines: BTreeMap<(PipelineId, Run), Engine>,
    pub(super) downloads: BTreeMap<DownloadId, Transfer>,
    pub(super) sending: Option<u64>,
}

/// A download.
pub(super) struct Transfer {
    pub(super) file: ModelFile,
    pub(super) cancelled: bool,
}

impl Device {
    pub(super) fn new(id: DeviceId, pinned: VerifyingKey, mutant: Mutant) -> Self {
        Self {
            id,
            epoch: Epoch(1),
            pinned: vec![pinned],
            mutant,
            disk: Disk::default(),
            boot: 0,
            booted_at: 0,
            lag: 0,
            frozen_until: 0,
            agent: None,
            request: 0,
            frontends: BTreeMap::new(),
            answered: BTreeMap::new(),
            foreign: BTreeSet::new(),
            engines: BTreeMap::new(),
            downloads: BTreeMap::new(),
            sending: None,
        }
    }

    /// Starts the process.
    pub(super) fn boot(&mut self, around: &mut Around<'_>) -> Result<(), String> {
        if self.agent.is_some() {
            return Ok(());
        }
        self.boot += 1;
        (self.booted_at, self.lag) = (around.agenda.now, 0);
        around.tally.boots += 1;
        let identity = Identity {
            device_id: self.id,
            epoch: self.epoch,
            boot_id: self.boot.to_string(),
            agent_version: Version::new(1, 3, 0),
            last_update: None,
        };
        let mut snapshot = self.disk.snapshot();
        self.mutant.at_restart(&mut snapshot);
        let (agent, effects) =
            Agent::restore(identity, self.pinned.clone(), snapshot, Duration::ZERO);
        self.agent = Some(agent);
        around.agenda.input(around.random.between(10, 500), self.boot, Input::Connect);
        self.carry_out(None, effects, around)
    }

    /// Kills the process. State that is not on disk is lost.
    pub(super) fn crash(&mut self, around: &mut Around<'_>) {
        if self.agent.take().is_none() {
            return;
        }
        self.frontends.clear();
        self.answered.clear();
        self.engines.clear();
        self.downloads.clear();
        self.sending = None;
        around.tally.crashes += 1;
        around.agenda.after(around.random.between(SECOND / 10, 40 * SECOND), Item::Boot);
    }

    /// Suspends the device. `counted` says whether the process's clock counts that time.
    pub(super) fn suspend(&mut self, length: Ms, counted: bool, now: Ms) {
        self.frozen_until = now + length;
        if !counted {
            self.lag += length;
        }
    }

    /// Handles an input.
    pub(super) fn take(&mut self, input: Input, around: &mut Around<'_>) -> Result<(), String> {
        let Some(agent) = &self.agent else { return Ok(()) };
        let event = match input {
            Input::Connect => {
                let Some(agent) = &mut self.agent else { return Ok(()) };
                let hello = agent.say_hello();
                let (boot, request) = (self.boot, self.next_request());
                self.ask(Message::Hello { boot, request, hello }, 15 * SECOND, around);
                return Ok(());
            }
            Input::Answer { request, event } => {
                if request != self.request {
                    return Ok(());
                }
                self.handle(event.clone(), around)?;
                if around.random.happens(around.faults.repeat) {
                    let again = Input::Event(event);
                    around.agenda.input(around.random.between(1, 200 * SECOND), self.boot, again);
                }
                self.poll(around);
                return Ok(());
            }
            Input::GivenUp { request } => {
                if request != self.request {
                    return Ok(());
                }
                self.request += 1;
                let wait = around.random.between(SECOND, 60 * SECOND);
                around.agenda.input(wait, self.boot, Input::Connect);
                Event::Disconnected
            }
            Input::Deadline => {
                if agent.deadline().is_none_or(|at| at > self.clock(around.agenda.now)) {
                    self.watch_deadline(around);
                    return Ok(());
                }
                Event::DeadlineReached
            }
            Input::Progress { download, bytes } => {
                if self.downloads.get(&download).is_none_or(|transfer| transfer.cancelled) {
                    return Ok(());
                }
                Event::DownloadProgressed { download, bytes_done: bytes }
            }
            Input::Transferred { download, whole } => match self.transferred(download, whole) {
                Some(event) => event,
                None => return Ok(()),
            },
            Input::EngineReady { pipeline, run } => {
                match self.engines.get_mut(&(pipeline, run)) {
                    Some(engine) if !engine.ended => engine.ready = true,
                    Some(_) | None => return Ok(()),
                }
                Event::EngineReady { pipeline_id: pipeline, run }
            }
            Input::EngineDies { pipeline, run } => {
                match self.engines.get_mut(&(pipeline, run)) {
                    Some(engine) if !engine.ended && !engine.stopping => engine.ended = true,
                    Some(_) | None => return Ok(()),
                }
                let reason = "the engine ended (exit status: 1)".to_owned();
                let event = Event::EngineEnded { pipeline_id: pipeline, run, reason };
                around.agenda.input(around.random.between(1, 100), self.boot, Input::Event(event));
                return Ok(());
            }
            Input::EngineHangs { pipeline, run } => {
                match self.engines.get(&(pipeline, run)) {
                    Some(engine) if !engine.ended && !engine.stopping => {}
                    Some(_) | None => return Ok(()),
                }
                let again = Input::EngineHangs { pipeline, run };
                around.agenda.input(10 * SECOND, self.boot, again);
                Event::EngineLooked { pipeline_id: pipeline, run, sign: Sign::Silent }
            }
            Input::EngineStops { pipeline, run } => {
                self.engines.remove(&(pipeline, run));
                Event::EngineStopped { pipeline_id: pipeline, run }
            }
            Input::Event(event) => {
                self.arrives(&event);
                event
            }
        };
        self.handle(event, around)
    }

    fn handle(&mut self, event: Event, around: &mut Around<'_>) -> Result<(), String> {
        let now = self.clock(around.agenda.now);
        let Some(agent) = &mut self.agent else { return Ok(()) };
        around.tally.events += 1;
        let effects = agent.handle(event.clone(), now);
        self.carry_out(Some(event), effects, around)
    }

    /// Runs effects and their immediate consequences, then checks the invariants.
    fn carry_out(
        &mut self,
        event: Option<Event>,
        effects: Vec<Effect>,
        around: &mut Around<'_>,
    ) -> Result<(), String> {
        let mut waiting = VecDeque::from([(event, effects)]);
        let mut next = VecDeque::new();
        while let Some((event, effects)) = waiting.pop_front() {
            let effects = self.mutant.twist(event.as_ref(), effects);
            self.check_repairs(&effects)?;
            for effect in effects {
                around.trace.note(|| format!("  effect {effect:?}"));
                if around.random.happens(around.faults.crash) {
                    around.trace.note(|| "  crash before it".to_owned());
                    self.crash(around);
                    return Ok(());
                }
                self.run(effect, event.as_ref(), &mut next, around)?;
                if self.agent.is_none() {
                    return Ok(());
                }
            }
            let now = self.clock(around.agenda.now);
            if let (Some(event), Some(agent)) = (next.pop_front(), &mut self.agent) {
                let effects = agent.handle(Event::clone(&event), now);
                waiting.push_back((Some(event), effects));
            }
        }
        self.watch_deadline(around);
        self.check()
    }

    fn run(
        &mut self,
        effect: Effect,
        cause: Option<&Event>,
        next: &mut VecDeque<Event>,
        around: &mut Around<'_>,
    ) -> Result<(), String> {
        match effect {
            Effect::Persist(changes) => {
                let taken = cause.and_then(|cause| {
                    if let Event::ReportSent { id } = cause { Some(*id) } else { None }
                });
                for step in self.mutant.order(Steps::of(changes)) {
                    if step.is_empty() {
                        continue;
                    }
                    self.disk.apply(&step, taken)?;
                    self.answered.retain(|pipeline, port| self.disk.wants(*pipeline, *port));
                    around.tally.writes += 1;
                    for change in &step {
                        if let Change::PutCommand(entry) = change {
                            around.tally.command(entry);
                        }
                    }
                    if around.random.happens(around.faults.crash) {
                        around.trace.note(|| "  crash between two writes".to_owned());
                        self.crash(around);
                        return Ok(());
                    }
                }
            }
            Effect::SendReceipt(receipt) => {
                self.check_receipt(&receipt)?;
                let message = Message::Receipt(receipt);
                around.network.scatter(&message, around.agenda, around.faults, around.random);
            }
            Effect::SendReport(entry) => self.send(entry, around)?,
            Effect::Download { download, file, .. } => self.download(download, file, around)?,
            Effect::CancelDownload { download } => {
                if let Some(transfer) = self.downloads.get_mut(&download) {
                    transfer.cancelled = true;
                    let whole = around.random.happens(200);
                    let input = Input::Transferred { download, whole };
                    around.agenda.input(around.random.between(1, 900), self.boot, input);
                }
            }
            Effect::ReservePort { run, route } => {
                let (pipeline_id, port) = (route.pipeline_id, route.port);
                let outcome = self.reserve(route);
                around.tally.ports_taken += u64::from(outcome.is_err());
                next.push_front(Event::PortReserved { pipeline_id, run, port, outcome });
            }
            Effect::ReplaceRoute(route) => self.replace(route)?,
            Effect::ReleasePort { pipeline_id, port } => {
                let routes = self.frontends.get_mut(&port).ok_or("nobody has the port")?;
                routes.remove(&pipeline_id).ok_or("the pipeline does not have the port")?;
                if routes.is_empty() {
                    self.frontends.remove(&port);
                }
            }
            Effect::StartEngine { pipeline_id, run, plugin, file, .. } => {
                self.start(pipeline_id, run, &plugin, &file, around)?;
            }
            Effect::StopEngine { pipeline_id, run } => {
                // A stop and a start in the same turn are written as one record. The stop has freed
                // the port.
                let frontends = &self.frontends;
                self.answered.retain(|id, port| {
                    let routes = frontends.get(port);
                    *id != pipeline_id || routes.is_some_and(|routes| routes.contains_key(id))
                });
                self.stop(pipeline_id, run, around)?;
            }
            Effect::KillEngine { pipeline_id, run, reason } => {
                around.tally.end("engine: given up");
                if let Some(engine) = self.engines.get_mut(&(pipeline_id, run)) {
                    engine.ended = true;
                    let event = Event::EngineEnded { pipeline_id, run, reason };
                    around.agenda.input(1, self.boot, Input::Event(event));
                }
            }
            Effect::PruneModel { keep } => {
                self.disk.files.retain(|file| file.0 != keep.model_id || file.1 == keep.sha256);
            }
            Effect::DiscardFile(file) => {
                self.disk.files.remove(&(file.model_id, file.sha256));
            }
            Effect::DeleteModel { pipeline_id, model_id } => {
                // A deleted file cannot be in use.
                let there = self.disk.files.iter().any(|file| file.0 == model_id);
                let outcome = if there && around.random.happens(around.faults.disk) {
                    Err("cannot delete the model's files: busy".to_owned())
                } else {
                    self.disk.files.retain(|file| file.0 != model_id);
                    Ok(())
                };
                next.push_back(Event::ModelDeleted { pipeline_id, outcome });
            }
            Effect::StageUpdate { request, .. } => self.stage(request.version, around),
            // A new process replaces this one, and only the disk persists.
            Effect::ReplaceAgent { .. } => around.agenda.after(0, Item::Crash),
            Effect::HandOver { .. } => {
                return Err("the device left an account that did not give it away".to_owned());
            }
            Effect::Log(_) => {}
        }
        Ok(())
    }

    /// Stages an update, which may fail.
    fn stage(&self, version: Option<Version>, around: &mut Around<'_>) {
        let version = version.unwrap_or(Version::new(1, 4, 0));
        let staged = match around.random.between(0, 4) {
            0 => Staged::Ready(version),
            1 => Staged::UpToDate(version),
            2 => Staged::Declined("there is no such release".to_owned()),
            _ => Staged::Failed("the connection was cut".to_owned()),
        };
        let input = Input::Event(Event::UpdateStaged(staged));
        around.agenda.input(around.random.between(10, 60 * SECOND), self.boot, input);
    }

    fn check_receipt(&self, receipt: &Receipt) -> Result<(), String> {
        let entry = self.disk.commands.get(&receipt.command_id);
        let holds = match receipt.receipt {
            ReceiptKind::Stored | ReceiptKind::Duplicate => entry.is_some(),
            ReceiptKind::Done => {
                let result = entry.and_then(|entry| entry.result.as_ref());
                result.is_some() && result == receipt.result.as_ref()
            }
            ReceiptKind::Expired => entry.is_none(),
        };
        if holds { Ok(()) } else { Err("a receipt says what is not on disk".to_owned()) }
    }

    /// Starts to send a report. The result arrives later.
    fn send(&mut self, entry: OutboxEntry, around: &mut Around<'_>) -> Result<(), String> {
        // A report that got a 401 waits for a hello, and later reports may overtake it meanwhile.
        let first = self.disk.outbox.values().find(|other| !other.unauthorized);
        if !entry.unauthorized && first != Some(&entry) {
            return Err(format!("report {} is sent, the first on disk is {first:?}", entry.id));
        }
        if let Some(other) = self.sending.replace(entry.id) {
            return Err(format!("report {} is sent while {other} is", entry.id));
        }
        let (boot, id) = (self.boot, entry.id);
        match around.network.delay(around.agenda.now, around.faults, around.random) {
            Some(delay) => {
                around.agenda.after(delay, Item::ToBackend(Message::Report { boot, entry }));
            }
            None => {
                let deferred = Input::Event(Event::ReportDeferred { id, retry_after: None });
                around.agenda.input(around.random.between(2 * SECOND, 34 * SECOND), boot, deferred);
            }
        }
        Ok(())
    }
}
