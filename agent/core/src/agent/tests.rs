//! The agent as its shell and the backend see it: deliveries in, effects out.

use std::time::Duration;

use link_protocol::{
    command::UpdateAgent,
    counter::{Epoch, Generation, Seq},
    deployment::DeploymentState,
    envelope::{Envelope, ReceiptKind},
    id::PipelineId,
    limits,
    port::Port,
    signing::{Signed, SigningKey},
    update::{UpdateEnd, UpdateOutcome},
};
use proptest::prelude::*;

use super::*;
use crate::{
    event::{DownloadFailure, Staged, Wish},
    record::{Change, DownloadId, OutboxEntry, Steps},
    run::Run,
    serving::Sign,
    tests::{
        cancel, command_id, deploy, deployment, device_id, envelope, id, moment, pipeline, port,
        record, repair, results, start, stop, uninstall, update_agent, words,
    },
};

mod deliveries;
mod deployments;
mod handover;

#[test]
fn a_command_is_written_down_before_it_is_acknowledged_and_before_it_has_an_effect() {
    let mut bench = Bench::online();
    assert_eq!(
        bench.deliver(&Command::DeployModel(deploy(1, 1))),
        [
            "persist",
            "seq 1",
            "write c1",
            "write 3: tell Downloading 0",
            "receipt c1 Stored",
            "log Accepted",
            "download 1",
            "send 3: tell Downloading 0"
        ]
    );
}

// Holds: S3.3-1, S6-8
#[test]
fn a_repair_is_done_in_the_turn_that_takes_it_and_touches_neither_engine_nor_port() {
    let mut bench = Bench::serving();
    assert_eq!(
        bench.deliver(&Command::RepairServing(repair(1, None))),
        [
            "persist",
            "seq 1",
            "write c1",
            "write serve on 8080 generation 2",
            "c1 succeeded: repaired: 2 origins may call `tiny` on port 8080",
            "write 4: tell Serving",
            "write 5: tell c1 succeeded",
            "receipt c1 Stored",
            "log Accepted",
            "route 8080 to engine 1, 2 origins",
            "log Finished",
            "send 4: tell Serving"
        ]
    );
}

/// The process may end between any two writes. If a change were stored before its command, the
/// command could expire before its next delivery, and the change would remain without a command.
#[test]
fn a_command_is_in_the_journal_before_it_changes_a_pipeline_and_done_after_it() {
    let mut bench = Bench::serving();
    let command = Command::RepairServing(repair(1, None));
    let effects = bench.receive_all(vec![bench.key.seal(&envelope(1, &command))]);
    let Some(Effect::Persist(changes)) = effects.into_iter().next() else { panic!() };
    let steps = Steps::of(changes);
    assert_eq!(steps.intake.len(), 2, "{:?}", steps.intake);
    let done = |change: &Change| matches!(change, Change::PutCommand(one) if one.result.is_some());
    assert!(!steps.intake.iter().any(done) && steps.journal.iter().any(done));
    assert_eq!((steps.put.len(), steps.removed.len()), (1, 0));
}

#[test]
fn a_removal_that_its_hello_overtook_is_told_again() {
    let mut bench =
        Bench::new(Snapshot { pipelines: vec![record(1, false)], ..Snapshot::default() });
    assert_eq!(bench.agent.say_hello().serving.len(), 1);
    bench.handle(Event::Wished(Wish::Remove(pipeline(1))));
    bench.handle(Event::ModelDeleted { pipeline_id: pipeline(1), outcome: Ok(()) });
    bench.take_reports();
    let untaken = bench.agent.outbox.removal_of(pipeline(1));
    assert_eq!(untaken, None, "the report of the removal was taken");
    let welcome =
        Welcome { server_time: moment(), epoch: Epoch(1), commands: vec![], handover: None };
    let effects = words(&bench.handle(Event::Welcomed(welcome)));
    assert!(effects.iter().any(|line| line.ends_with("tell Removed")), "{effects:?}");
    bench.take_reports();
    bench.agent.say_hello();
    let welcome =
        Welcome { server_time: moment(), epoch: Epoch(1), commands: vec![], handover: None };
    let effects = words(&bench.handle(Event::Welcomed(welcome)));
    assert!(!effects.iter().any(|line| line.ends_with("tell Removed")), "{effects:?}");
}

#[test]
fn a_hello_names_a_model_whose_removal_the_backend_does_not_know() {
    let mut bench =
        Bench::new(Snapshot { pipelines: vec![record(1, false)], ..Snapshot::default() });
    bench.handle(Event::Wished(Wish::Remove(pipeline(1))));
    bench.handle(Event::ModelDeleted { pipeline_id: pipeline(1), outcome: Ok(()) });
    let listed = bench.agent.say_hello().serving;
    let states: Vec<_> = listed.iter().map(|report| report.state).collect();
    assert_eq!(
        states,
        [link_protocol::report::ModelState::Removed],
        "it would count as lost otherwise"
    );
    bench.take_reports();
    assert_eq!(bench.agent.say_hello().serving, [], "the backend knows");
}

#[test]
fn a_redelivery_is_answered_and_has_no_other_effect() {
    let mut bench = Bench::online();
    let command = Command::DeployModel(deploy(1, 1));
    bench.deliver(&command);
    let again = Envelope { attempt: 2, ..envelope(1, &command) };
    assert_eq!(bench.receive(&again), ["receipt c1 Duplicate"]);
    bench.handle(Event::DownloadEnded {
        download: download(1, 1),
        outcome: Err(DownloadFailure::Failed("no space left".to_owned())),
    });
    let effects = bench.receive_all(vec![bench.key.seal(&again)]);
    let [Effect::SendReceipt(receipt)] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!((receipt.receipt, receipt.attempt), (ReceiptKind::Done, 2));
    assert_eq!(receipt.result.as_ref().map(|one| one.output.as_str()), Some("no space left"));
}

#[test]
fn what_has_expired_on_the_backends_clock_has_no_effect() {
    let mut bench = Bench::online();
    let command = Command::RepairServing(repair(1, None));
    let mut late = envelope(1, &command);
    late.expires_at = moment();
    bench.now += Duration::from_secs(1);
    let signed = bench.key.seal(&late);
    let event = Event::Polled {
        server_time: moment().checked_add(jiff::SignedDuration::from_secs(1)).unwrap(),
        commands: vec![signed],
    };
    assert_eq!(words(&bench.handle(event)), ["receipt c1 Expired"]);
    let spent = Envelope { ttl_ms: 0, ..envelope(2, &command) };
    assert_eq!(bench.receive(&spent), ["receipt c2 Expired"]);
    assert_eq!(bench.agent.hello().last_seq, Seq(0));
}

#[test]
fn time_that_passes_on_the_device_counts_for_the_backends_clock() {
    let mut bench = Bench::online();
    bench.now += limits::REPAIR_EXPIRY + Duration::from_secs(1);
    let envelope = envelope(1, &Command::RepairServing(repair(1, None)));
    let welcome =
        Welcome { server_time: moment(), epoch: Epoch(1), commands: vec![], handover: None };
    let known = bench.agent.clock.has_passed(envelope.expires_at, bench.now);
    bench.handle(Event::Welcomed(welcome));
    let corrected = bench.agent.clock.has_passed(envelope.expires_at, bench.now);
    assert_eq!((known, corrected), (true, false));
}

#[test]
fn what_is_not_meant_for_this_device_or_not_signed_for_it_has_no_effect_and_no_answer() {
    let command = Command::RepairServing(repair(1, None));
    let good = envelope(1, &command);
    let other_device = Envelope { device_id: id("dev_", 2), ..good.clone() };
    let other_epoch = Envelope { epoch: Epoch(2), ..good.clone() };
    let other_version = Envelope { v: 2, ..good.clone() };
    let bench = Bench::serving();
    let mut changed = bench.key.seal(&good);
    changed.envelope = changed.envelope.replace("work.example", "evil.example");
    let stranger = SigningKey::from_seed(&[9; 32]).seal(&good);
    let mut renamed = stranger.clone();
    renamed.kid = bench.key.verifying().kid.clone();
    let sealed = [other_device, other_epoch, other_version].map(|one| bench.key.seal(&one));
    for signed in sealed.into_iter().chain([changed, stranger, renamed]) {
        let mut bench = Bench::serving();
        let before = bench.agent.hello();
        let trusted = signed.open(std::slice::from_ref(bench.key.verifying())).is_ok();
        let effects = bench.receive_all(vec![signed]);
        match &effects[..] {
            [Effect::Log(Note::Refused { .. })] => assert!(trusted),
            [Effect::Log(Note::Untrusted { .. })] => assert!(!trusted),
            _ => panic!("{effects:?}"),
        }
        assert_eq!(bench.agent.hello(), before);
    }
}

// Holds: S3.4-1, S6-1
#[test]
fn the_device_is_starting_until_the_backend_has_answered_its_hello() {
    let (mut agent, effects) = restore(Snapshot::default());
    assert_eq!(words(&effects), ["persist", "write 1: tell Starting", "send 1: tell Starting"]);
    assert_eq!(agent.status(), LifecycleStatus::Starting);
    let welcome =
        Welcome { server_time: moment(), epoch: Epoch(1), commands: vec![], handover: None };
    let effects = agent.handle(Event::Welcomed(welcome.clone()), Duration::ZERO);
    assert_eq!(words(&effects), ["persist", "write 2: tell Online"]);
    assert_eq!(agent.status(), LifecycleStatus::Online);
    let _effects = agent.handle(Event::Disconnected, Duration::ZERO);
    assert_eq!(agent.connection(), ConnectionState::Connecting);
    let effects = agent.handle(Event::Welcomed(welcome), Duration::ZERO);
    assert!(effects.is_empty(), "told once: {effects:?}");
}

// Holds: S3.2-5, S6-3
#[test]
fn what_served_serves_again_after_a_restart_and_is_announced_with_every_welcome() {
    let pipelines = vec![record(1, true)];
    let (mut agent, effects) = restore(Snapshot { pipelines, ..Snapshot::default() });
    assert!(words(&effects).contains(&"reserve 8080 for run 1".to_owned()));
    let reserved = reserved(1, 8080, Ok(()));
    assert!(words(&agent.handle(reserved, Duration::ZERO)).contains(&"start engine 1".to_owned()));
    let ready = Event::EngineReady { pipeline_id: pipeline(1), run: Run(1) };
    let told = words(&agent.handle(ready, Duration::ZERO));
    assert!(told.contains(&"route 8080 to engine 1, 1 origins".to_owned()));
    assert!(agent.hello().serving.iter().all(|report| report.is_serving));
    for _ in 0..2 {
        let welcome =
            Welcome { server_time: moment(), epoch: Epoch(1), commands: vec![], handover: None };
        let told = words(&agent.handle(Event::Welcomed(welcome), Duration::ZERO));
        assert!(told.iter().any(|line| line.ends_with("tell Serving")), "{told:?}");
    }
}

#[test]
fn a_stop_does_not_wait_behind_a_start_and_does_not_undo_a_removal() {
    let mut bench = Bench::serving();
    bench.deliver(&Command::UninstallModel(uninstall(1)));
    let told = bench.deliver(&Command::StopServing(stop(1)));
    assert!(!told.iter().any(|line| line.contains("cancelled")), "{told:?}");
    let mut bench =
        Bench::new(Snapshot { pipelines: vec![record(1, false)], ..Snapshot::default() });
    bench.deliver(&Command::StartServing(start(1, None)));
    bench.handle(reserved(1, 8080, Ok(())));
    let told = bench.deliver(&Command::StopServing(stop(1)));
    let place = |wanted: &str| told.iter().position(|line| line.contains(wanted));
    assert!(place("c1 cancelled: ended by a newer command").is_some(), "{told:?}");
    assert!(place("stop engine 1").is_some() && place("release 8080").is_some(), "{told:?}");
    let stopped = Event::EngineStopped { pipeline_id: pipeline(1), run: Run(1) };
    assert_eq!(results(&bench.handle(stopped)), ["c2 succeeded: stopped"]);
}

// Holds: S7-12
#[test]
fn an_update_without_a_release_to_install_is_declined_with_a_message() {
    let mut bench = Bench::online();
    let told = bench.deliver(&update_agent());
    assert!(told.contains(&"stage 1.4.0".to_owned()), "{told:?}");
    assert_eq!(bench.agent.status(), LifecycleStatus::Updating);
    let nothing = Staged::Declined("there is no release 1.4.0 to install".to_owned());
    let effects = bench.handle(Event::UpdateStaged(nothing));
    let reason = "c1 rejected: declined: there is no release 1.4.0 to install";
    assert_eq!(results(&effects), [reason]);
    assert_eq!(bench.agent.status(), LifecycleStatus::Online);
}

// Holds: S6-10
#[test]
fn an_update_is_reported_done_before_the_new_version_takes_over() {
    let mut bench = Bench::online();
    bench.deliver(&update_agent());
    let waits = bench.deliver(&Command::DeployModel(deploy(1, 1)));
    assert!(!waits.iter().any(|line| line.starts_with("download")), "{waits:?}");
    let version = semver::Version::new(1, 4, 0);
    let effects = bench.handle(Event::UpdateStaged(Staged::Ready(version)));
    let done = "c1 succeeded: version 1.4.0 is verified and checked, and takes over now";
    assert_eq!(results(&effects), [done]);
    let told = words(&effects);
    let place = |wanted: &str| told.iter().position(|line| line.contains(wanted));
    assert!(matches!(effects.first(), Some(Effect::Persist(_))));
    assert!(place("replace the agent by 1.4.0").is_some(), "{told:?}");
    assert_eq!(bench.agent.status(), LifecycleStatus::Updating);
    // This process stays until the backend has the result.
    assert!(bench.agent.owes_a_result());
    bench.take_reports();
    assert!(!bench.agent.owes_a_result());
}

#[test]
fn a_second_update_waits_for_no_other_and_a_person_may_ask_for_one() {
    let mut bench = Bench::online();
    let asked = Event::UpdateAsked(UpdateRequest { again: true, ..UpdateRequest::default() });
    assert!(words(&bench.handle(asked.clone())).contains(&"stage the newest".to_owned()));
    assert!(words(&bench.handle(asked)).is_empty(), "one at a time");
    let told = bench.deliver(&update_agent());
    assert!(told.contains(&"c1 rejected: an update is under way".to_owned()), "{told:?}");
    bench.handle(Event::UpdateStaged(Staged::Failed("cut".to_owned())));
    assert_eq!(bench.agent.status(), LifecycleStatus::Online);
}

/// The process may end between its replacement and the note that the command is done.
#[test]
fn an_update_to_the_version_that_runs_is_done() {
    let mut bench = Bench::online();
    let version = semver::Version::new(1, 3, 0);
    let told = bench.deliver(&Command::UpdateAgent(UpdateAgent { version }));
    assert!(told.contains(&"c1 succeeded: version 1.3.0 is installed".to_owned()), "{told:?}");
    assert!(!told.iter().any(|line| line.starts_with("stage")), "{told:?}");
    assert_eq!(bench.agent.status(), LifecycleStatus::Online);
}

/// The phases of the staging tell a person that there is nothing to do.
#[test]
fn a_person_may_ask_for_the_version_that_runs() {
    let mut bench = Bench::online();
    let version = Some(semver::Version::new(1, 3, 0));
    let asked = Event::UpdateAsked(UpdateRequest { version, ..UpdateRequest::default() });
    let told = words(&bench.handle(asked));
    assert!(told.contains(&"stage 1.3.0".to_owned()), "{told:?}");
    bench.handle(Event::UpdateStaged(Staged::UpToDate(semver::Version::new(1, 3, 0))));
    assert_eq!(bench.agent.status(), LifecycleStatus::Online);
}

#[test]
fn what_became_of_an_update_is_told_with_the_lifecycle() {
    let mut bench = Bench::online();
    let outcome = UpdateOutcome {
        from: semver::Version::new(1, 3, 0),
        to: semver::Version::new(1, 4, 0),
        outcome: UpdateEnd::Committed,
        reason: None,
    };
    let effects = bench.handle(Event::UpdateSettled(outcome.clone()));
    let told = effects.iter().find_map(|effect| {
        let Effect::SendReport(OutboxEntry { report: Report::Lifecycle(report), .. }) = effect
        else {
            return None;
        };
        report.update.clone()
    });
    assert_eq!(told, Some(outcome));
}

// Holds: S3.1-4
#[test]
fn a_command_that_takes_too_long_fails_and_what_it_started_is_ended() {
    let mut bench = Bench::online();
    bench.deliver(&Command::DeployModel(deploy(1, 1)));
    assert_eq!(bench.agent.deadline(), Some(limits::DEPLOY_EXECUTION_DEADLINE));
    bench.now = limits::DEPLOY_EXECUTION_DEADLINE;
    let effects = bench.handle(Event::DeadlineReached);
    assert_eq!(results(&effects), ["c1 failed: the command timed out"]);
    assert!(words(&effects).contains(&"cancel download 1".to_owned()));
}

#[test]
fn a_command_that_was_held_back_ends_no_newer_download() {
    let mut bench = Bench::online();
    let older = envelope(5, &Command::DeployModel(deploy(1, 1)));
    bench.receive(&envelope(6, &Command::DeployModel(deploy(2, 1))));
    let effects = bench.receive(&older);
    assert!(!effects.iter().any(|effect| effect.starts_with("cancel download")), "{effects:?}");
    let kept = bench.agent.hello().inflight;
    assert_eq!(kept.iter().map(|one| one.command_id).collect::<Vec<_>>(), [command_id(6)]);
}

// Holds: S3.1-4
#[test]
fn an_engine_that_never_answers_fails_the_deployment_and_frees_its_port() {
    let mut bench = Bench::online();
    bench.deliver(&Command::DeployModel(deploy(1, 1)));
    let effects = bench.handle(Event::DownloadEnded { download: download(1, 1), outcome: Ok(()) });
    assert!(words(&effects).contains(&"reserve 8080 for run 1".to_owned()));
    bench.handle(reserved(1, 8080, Ok(())));
    bench.now = limits::ENGINE_HEALTH_TIMEOUT;
    let effects = bench.handle(Event::DeadlineReached);
    assert_eq!(results(&effects), ["c1 failed: the engine was not healthy within 120 s"]);
    for wanted in ["release 8080", "stop engine 1"] {
        assert!(words(&effects).contains(&wanted.to_owned()), "{effects:?}");
    }
    assert!(bench.agent.hello().serving.iter().all(|report| !report.is_serving));
}

#[test]
fn a_model_that_is_deployed_again_after_its_removal_is_newer_than_it_was() {
    let mut bench = Bench::online();
    let mut seen = Generation::default();
    for number in 1..=3 {
        bench.deliver(&Command::DeployModel(deploy(number, 1)));
        bench.handle(Event::DownloadEnded { download: download(number, number), outcome: Ok(()) });
        let generation = bench.agent.hello().serving[0].generation;
        assert!(generation > seen, "{generation} after {seen}");
        bench.handle(reserved(number, 8080, Err("taken".to_owned())));
        bench.deliver(&Command::UninstallModel(uninstall(1)));
        let deleted = Event::ModelDeleted { pipeline_id: pipeline(1), outcome: Ok(()) };
        let effects = bench.handle(deleted);
        seen = effects.iter().find_map(removed).expect("the removal is told");
    }
}

#[test]
fn a_full_journal_leaves_a_delivery_for_later() {
    let mut bench = Bench::online();
    for _ in 0..limits::QUEUE_LIMIT {
        bench.deliver(&Command::DeployModel(deploy(bench.seq + 1, 1)));
    }
    let told = bench.deliver(&Command::StopServing(stop(2)));
    assert_eq!(told, ["log Refused "]);
    assert_eq!(bench.agent.hello().last_seq.0, limits::QUEUE_LIMIT as u64);
}

#[test]
fn a_refused_device_says_so_and_goes_on_serving() {
    let mut bench = Bench::serving();
    let effects = bench.handle(Event::TurnedAway { reason: "401".to_owned() });
    assert!(matches!(effects[..], [Effect::Log(Note::Refused { .. })]));
    assert_eq!(bench.agent.connection(), ConnectionState::Refused);
    assert!(bench.agent.pipelines().all(|view| view.engine_run.is_some()));
}

proptest! {
    /// For any events in any order: changes come first, receipts and reports describe only stored
    /// changes, and each command has one result, also across restarts.
    #[test]
    fn nothing_precedes_the_change_that_it_speaks_of(
        steps in prop::collection::vec((0_u8..17, 1_u64..4, any::<bool>()), 0..80),
    ) {
        let mut bench = Bench::online();
        let mut sealed = Vec::new();
        for (step, number, good) in steps {
            bench.any(step, number, good, &mut sealed);
            prop_assert!(bench.problem.is_none(), "{:?}", bench.problem);
        }
    }
}

struct Bench {
    agent: Agent,
    key: SigningKey,
    now: Now,
    seq: u64,
    /// The effects of the last event.
    effects: Vec<Effect>,
    /// The report being sent.
    sending: Option<u64>,
    downloads: Vec<DownloadId>,
    disk: Vec<Change>,
    problem: Option<String>,
}

impl Bench {
    fn new(snapshot: Snapshot) -> Self {
        let (agent, effects) = restore(snapshot);
        let key = SigningKey::from_seed(&[1; 32]);
        let mut bench = Self {
            agent,
            key,
            now: Duration::ZERO,
            seq: 0,
            effects: Vec::new(),
            sending: None,
            downloads: Vec::new(),
            disk: Vec::new(),
            problem: None,
        };
        bench.note(effects);
        bench
    }

    /// A connected agent with its first report in flight.
    fn online() -> Self {
        let mut bench = Self::new(Snapshot::default());
        bench.welcome();
        bench.take_reports();
        bench
    }

    /// A connected agent whose pipeline serves from engine 1 on port 8080.
    fn serving() -> Self {
        let pipelines = vec![record(1, true)];
        let mut bench = Self::new(Snapshot { pipelines, ..Snapshot::default() });
        bench.handle(reserved(1, 8080, Ok(())));
        bench.handle(Event::EngineReady { pipeline_id: pipeline(1), run: Run(1) });
        bench.take_reports();
        bench
    }

    fn welcome(&mut self) {
        let welcome =
            Welcome { server_time: moment(), epoch: Epoch(1), commands: vec![], handover: None };
        self.handle(Event::Welcomed(welcome));
    }

    /// Lets the backend accept every report.
    fn take_reports(&mut self) {
        while let Some(id) = self.sending.take() {
            self.handle(Event::ReportSent { id });
        }
    }

    fn handle(&mut self, event: Event) -> Vec<Effect> {
        let effects = self.agent.handle(event, self.now);
        self.note(effects)
    }

    /// Delivers the next command.
    fn deliver(&mut self, command: &Command) -> Vec<String> {
        self.seq += 1;
        self.receive(&envelope(self.seq, command))
    }

    fn receive(&mut self, envelope: &Envelope) -> Vec<String> {
        let signed = self.key.seal(envelope);
        words(&self.receive_all(vec![signed]))
    }

    fn receive_all(&mut self, commands: Vec<Signed>) -> Vec<Effect> {
        self.handle(Event::Polled { server_time: moment(), commands })
    }

    /// Kills the process and restarts it from the state on disk.
    fn restart(&mut self) {
        let (agent, effects) = restore(self.snapshot());
        self.downloads.clear();
        (self.agent, self.now) = (agent, Duration::ZERO);
        self.note(effects);
    }

    fn note(&mut self, effects: Vec<Effect>) -> Vec<Effect> {
        for (place, effect) in effects.iter().enumerate() {
            if let Effect::Persist(changes) = effect {
                if place > 0 {
                    self.problem = Some(format!("changes come late: {effects:?}"));
                }
                self.disk.extend(changes.iter().cloned());
            }
        }
        let snapshot = self.snapshot();
        for effect in &effects {
            if let Effect::SendReceipt(receipt) = effect {
                let mut known = snapshot.commands.iter();
                let known = known.find(|entry| entry.command_id == receipt.command_id);
                let holds = match receipt.receipt {
                    ReceiptKind::Stored | ReceiptKind::Duplicate => known.is_some(),
                    ReceiptKind::Done => known.is_some_and(|entry| entry.result == receipt.result),
                    ReceiptKind::Expired => known.is_none(),
                };
                if !holds {
                    self.problem = Some(format!("{receipt:?} is not so"));
                }
            }
            if let Effect::SendReport(entry) = effect {
                if snapshot.outbox.first() != Some(entry) {
                    self.problem = Some(format!("{entry:?} overtakes {:?}", snapshot.outbox));
                }
                self.sending = Some(entry.id);
            }
            if let Effect::Download { download, .. } = effect {
                self.downloads.push(*download);
            }
        }
        self.effects.clone_from(&effects);
        effects
    }

    /// Returns the state on disk.
    fn snapshot(&mut self) -> Snapshot {
        let mut all = Snapshot::default();
        for change in &self.disk {
            match change.clone() {
                Change::PutCommand(entry) => {
                    let same = |other: &crate::record::LedgerEntry| other.seq == entry.seq;
                    if all.commands.iter().any(|other| same(other) && other.result.is_some()) {
                        self.problem = Some(format!("a second result: {entry:?}"));
                    }
                    all.commands.retain(|other| !same(other));
                    all.commands.push(entry);
                }
                Change::ForgetCommand(id) => all.commands.retain(|one| one.command_id != id),
                Change::PutPipeline(record) => {
                    let id = record.config.pipeline_id;
                    all.pipelines.retain(|other| other.config.pipeline_id != id);
                    all.pipelines.push(record);
                }
                Change::RemovePipeline(id) => {
                    all.pipelines.retain(|other| other.config.pipeline_id != id);
                }
                Change::PutReport(entry) => all.outbox.push(entry),
                Change::HoldReport(entry) => {
                    all.outbox.retain(|one| one.id != entry.id);
                    all.outbox.push(entry);
                }
                Change::RemoveReport(id) => all.outbox.retain(|entry| entry.id != id),
                Change::BuryReport { entry, .. } => all.outbox.retain(|one| one.id != entry.id),
                Change::SetLastSeq(seq) => all.last_seq = seq,
            }
        }
        all
    }

    /// Runs one random step of the property test.
    fn any(&mut self, step: u8, number: u64, good: bool, sealed: &mut Vec<Signed>) {
        let wanted = good.then_some(9090);
        let command = match step {
            0 | 1 => Command::DeployModel(deploy(self.seq + 1, number)),
            2 => cancel(number, number),
            3 => Command::StartServing(start(number, wanted)),
            4 => Command::StopServing(stop(number)),
            5 => Command::RepairServing(repair(number, wanted)),
            6 => Command::UninstallModel(uninstall(number)),
            7 => update_agent(),
            _ => return self.happens(step, number, good, sealed),
        };
        self.seq += 1;
        let mut envelope = envelope(self.seq, &command);
        if number == 3 && !good {
            envelope.r#type = "REMOVE_MODEL".to_owned();
        }
        sealed.push(self.key.seal(&envelope));
        self.receive_all(sealed[sealed.len() - 1..].to_vec());
        self.answer_ports(good);
    }

    fn happens(&mut self, step: u8, number: u64, good: bool, sealed: &[Signed]) {
        let engine = |all: &Self| {
            let mut views = all.agent.pipelines();
            views.find_map(|view| Some((view.record.config.pipeline_id, view.engine_run?)))
        };
        let found = engine(self);
        match (step, found) {
            (8, _) => {
                for download in std::mem::take(&mut self.downloads) {
                    let failed = DownloadFailure::Failed("cut".to_owned());
                    let outcome = if good { Ok(()) } else { Err(failed) };
                    self.handle(Event::DownloadEnded { download, outcome });
                    self.answer_ports(good);
                }
                return;
            }
            (9, Some((pipeline_id, run))) => {
                self.handle(Event::EngineReady { pipeline_id, run });
            }
            (10, Some((pipeline_id, run))) => {
                let reason = "died".to_owned();
                self.handle(Event::EngineEnded { pipeline_id, run, reason });
            }
            (16, Some((pipeline_id, run))) => {
                let sign = if good { Sign::Works } else { Sign::Silent };
                for _ in 0..number * 2 {
                    self.handle(Event::EngineLooked { pipeline_id, run, sign });
                }
            }
            (11, Some((pipeline_id, run))) => {
                self.handle(Event::EngineStopped { pipeline_id, run });
            }
            (12, _) => {
                self.now += Duration::from_secs(70 * number);
                self.handle(Event::DeadlineReached);
            }
            (13, _) => {
                self.receive_all(sealed.to_vec());
            }
            (14, _) if good => self.restart(),
            (14, _) => self.welcome(),
            (15, _) => self.take_reports(),
            (_, _) => {}
        }
        self.answer_ports(good);
    }

    /// Answers port reservations and deletions immediately.
    fn answer_ports(&mut self, good: bool) {
        loop {
            let next = self.effects.iter().find_map(|effect| {
                if let Effect::ReservePort { run, route } = effect {
                    return Some(reserved_by(route.pipeline_id, *run, route.port, good));
                }
                if let Effect::DeleteModel { pipeline_id, .. } = effect {
                    return Some(Event::ModelDeleted {
                        pipeline_id: *pipeline_id,
                        outcome: Ok(()),
                    });
                }
                None
            });
            let Some(event) = next else { return };
            self.handle(event);
        }
    }
}

fn restore(snapshot: Snapshot) -> (Agent, Vec<Effect>) {
    let identity = Identity {
        device_id: device_id(),
        epoch: Epoch(1),
        boot_id: "boot".to_owned(),
        agent_version: semver::Version::new(1, 3, 0),
        last_update: None,
    };
    let pinned = vec![SigningKey::from_seed(&[1; 32]).verifying().clone()];
    Agent::restore(identity, pinned, snapshot, Duration::ZERO)
}

fn reserved(run: u64, number: u16, outcome: Result<(), String>) -> Event {
    Event::PortReserved { pipeline_id: pipeline(1), run: Run(run), port: port(number), outcome }
}

fn reserved_by(pipeline_id: PipelineId, run: Run, port: Port, good: bool) -> Event {
    let outcome = if good { Ok(()) } else { Err("taken".to_owned()) };
    Event::PortReserved { pipeline_id, run, port, outcome }
}

fn download(number: u64, attempt: u64) -> DownloadId {
    DownloadId { deployment_id: deployment(number), attempt }
}

/// The generation in the removal report that `effect` stores.
fn removed(effect: &Effect) -> Option<Generation> {
    let Effect::Persist(changes) = effect else { return None };
    changes.iter().find_map(|change| match change {
        Change::PutReport(entry) => match &entry.report {
            Report::Model(report) if report.state == link_protocol::report::ModelState::Removed => {
                Some(report.generation)
            }
            Report::Lifecycle(_)
            | Report::Command(_)
            | Report::Model(_)
            | Report::Progress { .. } => None,
        },
        Change::PutCommand(_)
        | Change::ForgetCommand(_)
        | Change::PutPipeline(_)
        | Change::RemovePipeline(_)
        | Change::RemoveReport(_)
        | Change::HoldReport(_)
        | Change::BuryReport { .. }
        | Change::SetLastSeq(_) => None,
    })
}
