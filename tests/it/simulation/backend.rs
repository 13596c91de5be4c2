//! The backend: the real state machines of commands, deployments and requests, with lists as the
//! store.

use std::{collections::BTreeMap, time::Duration};

use jiff::{SignedDuration, Timestamp};
use link_agent_core::{event::Event, record::Report};
use link_backend::domain::{
    command::{self, CommandRecord, Reported, State},
    deployment::{DeploymentRecord, NOT_BEGUN, NOT_RECEIVED, REPLACED},
    outcome::{self, Consequence},
    wish::{self, Placement},
};
use link_protocol::{
    agent_api::{Hello, Welcome},
    command::{CancelDeploy, Command, DeployModel},
    counter::{Epoch, Seq},
    deployment::DeploymentState,
    envelope::{Receipt, ReceiptKind},
    id::{CommandId, DeploymentId, DeviceId, PipelineId},
    limits,
    local_api::Progress,
    report::{CommandReport, LifecycleStatus, ModelReport, ModelState},
    signing::{Signed, SigningKey},
};
use uuid::Uuid;

use super::{
    forgery::{self, Forger},
    network::Ms,
};

/// A long poll that waits for commands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parked {
    pub(super) boot: u64,
    pub(super) request: u64,
    after: Seq,
    until: Ms,
}

/// The simulated backend.
pub(super) struct Backend {
    key: SigningKey,
    forger: Forger,
    device: DeviceId,
    pub(super) epoch: Epoch,
    pub(super) commands: Vec<CommandRecord>,
    /// Commands that were sent damaged. [`forgery`] says how.
    pub(super) spoiled: BTreeMap<CommandId, Seq>,
    pub(super) deployments: Vec<DeploymentRecord>,
    /// The last state of each pipeline, and the epoch in which it was reported.
    pub(super) states: BTreeMap<PipelineId, (Epoch, ModelReport)>,
    pub(super) status: Option<LifecycleStatus>,
    pub(super) parked: Option<Parked>,
    ids: u128,
}

/// Converts a time of the simulation to the backend's clock.
pub(super) fn time(at: Ms) -> Timestamp {
    let start = Timestamp::from_second(1_786_000_000).expect("a moment of 2026");
    let since = SignedDuration::try_from(Duration::from_millis(at)).expect("less than an age");
    start.checked_add(since).expect("less than an age")
}

impl Backend {
    pub(super) fn new(device: DeviceId) -> Self {
        Self {
            key: SigningKey::from_seed(&[1; 32]),
            forger: Forger::new(),
            device,
            epoch: Epoch(1),
            commands: Vec::new(),
            spoiled: BTreeMap::new(),
            deployments: Vec::new(),
            states: BTreeMap::new(),
            status: None,
            parked: None,
            ids: 0,
        }
    }

    pub(super) const fn key(&self) -> &SigningKey {
        &self.key
    }

    /// Returns a new identifier.
    pub(super) fn new_id(&mut self) -> Uuid {
        self.ids += 1;
        Uuid::from_u128(self.ids)
    }

    /// Stores a request, unless the same one is already waiting. Returns its command.
    pub(super) fn place(&mut self, wish: Command, key: String, now: Ms) -> CommandId {
        let id = CommandId::from_uuid(self.new_id());
        for record in &mut self.commands {
            record.sweep(time(now));
        }
        let open: Vec<_> = self.commands.iter().filter(|one| one.is_open()).cloned().collect();
        let superseded = match wish::placement(&open, &wish, &key) {
            Placement::Same(same) => return same,
            Placement::Send { superseded } => superseded,
        };
        for record in self.commands.iter_mut().filter(|one| superseded.contains(&one.id)) {
            record.supersede(Some(id), time(now));
        }
        let seq = Seq(self.commands.len() as u64 + 1);
        let record = CommandRecord::new(id, self.device, seq, wish, key, time(now));
        self.commands.push(record);
        id
    }

    /// Stores a deployment. It replaces an unfinished deployment of the same model.
    pub(super) fn deploy(&mut self, deploy: DeployModel, now: Ms) -> CommandId {
        let model = deploy.model.model_id;
        let before =
            self.deployments.iter().position(|one| one.model == model && !one.state.is_final());
        if let Some(place) = before {
            self.make_way(place, REPLACED, now);
        }
        let id = deploy.deployment_id;
        let (config, total) = (deploy.config.clone(), deploy.model.size_bytes);
        // An existing deployment is updated: the same work under another name.
        let there = self.deployments.iter().any(|one| one.model == model && one.is_deployed());
        let wish = if there { Command::UpdateModel(deploy) } else { Command::DeployModel(deploy) };
        let command = self.place(wish, format!("deploy:{id}"), now);
        self.deployments.push(DeploymentRecord {
            id,
            model,
            device: self.device,
            command,
            alias: config.alias,
            port: config.port,
            state: DeploymentState::Queued,
            reason: None,
            progress: Progress { bytes_done: 0, bytes_total: total },
            allowlist: config.allowlist,
            proxy: config.proxy,
            settings: config.settings,
            removed: false,
            created_at: time(now),
            updated_at: time(now),
        });
        command
    }

    /// Cancels a deployment that has not ended, or asks the device to cancel it.
    pub(super) fn cancel(&mut self, id: DeploymentId, now: Ms) {
        let place = self.deployments.iter().position(|one| one.id == id && !one.state.is_final());
        if let Some(place) = place {
            self.make_way(place, "cancelled by the user", now);
        }
    }

    fn make_way(&mut self, place: usize, reason: &str, now: Ms) {
        let deployment = &mut self.deployments[place];
        let command = self.commands.iter_mut().find(|one| one.id == deployment.command);
        if let Some(command) = command.filter(|one| one.is_open() && one.attempt == 0) {
            command.supersede(None, time(now));
            deployment.end(DeploymentState::Cancelled, Some(reason), time(now));
            return;
        }
        let (deployment_id, model_id) = (deployment.id, deployment.model);
        let wish = Command::CancelDeploy(CancelDeploy { deployment_id, model_id });
        self.place(wish, format!("cancel:{deployment_id}"), now);
    }

    /// Ends everything that has expired.
    pub(super) fn sweep(&mut self, now: Ms) {
        for record in &mut self.commands {
            record.sweep(time(now));
        }
        for place in 0..self.deployments.len() {
            let deployment = &self.deployments[place];
            let command = self.commands.iter().find(|one| one.id == deployment.command);
            let state = command.map_or(State::Superseded, |one| one.state);
            let stuck = deployment.state == DeploymentState::Queued
                && deployment.is_stuck(Some(state), time(now));
            if !stuck {
                continue;
            }
            let has_it = state == State::Acknowledged;
            if has_it {
                self.make_way(place, "", now);
            }
            let reason = if has_it { NOT_BEGUN } else { NOT_RECEIVED };
            self.deployments[place].end(DeploymentState::Failed, Some(reason), time(now));
        }
    }

    /// Registers the device again: the commands sent before have no effect any more.
    pub(super) fn register(&mut self, now: Ms) {
        self.epoch = self.epoch.next();
        for record in &mut self.commands {
            record.restart(time(now));
        }
    }

    /// Answers a hello.
    pub(super) fn hello(&mut self, hello: &Hello, now: Ms, spoil: u64) -> Event {
        let current = hello.epoch == self.epoch;
        let (inflight, last_seq) =
            if current { (hello.inflight.as_slice(), hello.last_seq) } else { (&[][..], Seq(0)) };
        for (epoch, known) in self.states.values_mut() {
            let listed = hello.serving.iter().any(|one| one.model_id == known.model_id);
            if known.state != ModelState::Removed && !listed {
                (known.is_serving, known.state) = (false, ModelState::Removed);
                *epoch = self.epoch;
            }
        }
        for report in &hello.serving {
            self.states.insert(report.pipeline_id, (self.epoch, report.clone()));
        }
        for record in &mut self.commands {
            record.hello(inflight, last_seq, time(now));
        }
        self.status = Some(LifecycleStatus::Online);
        let commands = self.take(now, spoil);
        Event::Welcomed(Welcome {
            server_time: time(now),
            epoch: self.epoch,
            commands,
            handover: None,
        })
    }

    /// Parks a poll.
    pub(super) fn poll(&mut self, boot: u64, request: u64, after: Seq, now: Ms) {
        let wait = u64::try_from(limits::POLL_WAIT.as_millis()).expect("a minute");
        self.parked = Some(Parked { boot, request, after, until: now + wait });
    }

    /// Answers the parked poll if there is something to send.
    pub(super) fn look(&mut self, now: Ms, spoil: u64) -> Option<(Parked, Event)> {
        let parked = self.parked?;
        for record in &mut self.commands {
            if record.next_delivery_at.is_some() {
                record.journaled(parked.after, time(now));
            }
        }
        let commands = self.take(now, spoil);
        if commands.is_empty() && now < parked.until {
            return None;
        }
        self.parked = None;
        Some((parked, Event::Polled { server_time: time(now), commands }))
    }

    /// Returns the delay until the parked poll must be checked again.
    pub(super) fn next_look(&self, now: Ms) -> Option<Ms> {
        let parked = self.parked?;
        let due = command::next_due(&self.commands, time(now))
            .and_then(|due| u64::try_from(due.duration_since(time(now)).as_millis()).ok());
        Some(due.unwrap_or(Ms::MAX).min(parked.until.saturating_sub(now)).max(10))
    }

    fn take(&mut self, now: Ms, spoil: u64) -> Vec<Signed> {
        let places = command::due(&self.commands, time(now));
        let mut taken = Vec::new();
        for place in places {
            let record = &mut self.commands[place];
            record.deliver(time(now));
            let mut envelope = record.envelope(self.epoch, time(now));
            if record.attempt == 1 && forgery::is_chosen(record.id, spoil) {
                self.spoiled.insert(record.id, record.seq);
            }
            if let Some(how) = self.spoiled.get(&record.id) {
                forgery::spoil(&mut envelope, how.0);
            }
            taken.push(self.key.seal(&envelope));
        }
        taken
    }

    /// Creates deliveries that must have no effect. `how` selects the kind.
    pub(super) fn forge(&mut self, how: u64, now: Ms) -> Signed {
        let id = CommandId::from_uuid(Uuid::from_u128(u128::MAX - u128::from(how) - self.ids));
        self.forger.forge(&self.key, id, self.device, self.epoch, how, time(now))
    }

    /// Applies a receipt.
    pub(super) fn receipt(&mut self, receipt: &Receipt, now: Ms) {
        match (receipt.receipt, &receipt.result) {
            (ReceiptKind::Done, Some(result)) => {
                self.result(result, now).unwrap_or_default();
            }
            (kind, _) => {
                let found = self.commands.iter_mut().find(|one| one.id == receipt.command_id);
                // A late receipt changes nothing.
                if let Some(record) = found {
                    record.receipt(kind, time(now)).unwrap_or_default();
                }
            }
        }
    }

    /// Applies a report. An error refuses it permanently.
    pub(super) fn report(&mut self, report: &Report, now: Ms) -> Result<(), String> {
        match report {
            Report::Lifecycle(lifecycle) => self.status = Some(lifecycle.status),
            Report::Command(result) => return self.result(result, now),
            Report::Model(model) => self.model(model),
            Report::Progress { progress, .. } => {
                let id = progress.deployment_id;
                let found = self.deployments.iter_mut().find(|one| Some(one.id) == id);
                let deployment = found.ok_or("404 no such deployment")?;
                // A device that has begun a command has received it, even if the receipt was lost.
                // A command that has expired is about to fail.
                let mut commands = self.commands.iter_mut();
                let command = commands.find(|one| one.id == deployment.command);
                let received =
                    |one: &mut CommandRecord| one.receipt(ReceiptKind::Stored, time(now));
                if command.is_some_and(|one| received(one).is_ok()) {
                    deployment.progress(progress, time(now));
                }
            }
        }
        Ok(())
    }

    fn result(&mut self, result: &CommandReport, now: Ms) -> Result<(), String> {
        let found = self.commands.iter_mut().find(|one| one.id == result.command_id);
        let record = found.ok_or("404 no such command")?;
        let reported =
            record.report(result.clone(), time(now)).map_err(|late| format!("410 {late}"))?;
        if reported == Reported::Repeated {
            return Ok(());
        }
        match outcome::of(&record.command, result.status) {
            Consequence::Ends(id) => {
                let found = self.deployments.iter_mut().find(|one| one.id == id);
                found.map(|one| one.result(result.status, &result.output, time(now)));
            }
            Consequence::Removed(model) => {
                let all = self.deployments.iter_mut().filter(|one| one.model == model);
                all.for_each(|one| one.removed = one.removed || one.is_deployed());
            }
            Consequence::Nothing | Consequence::Carries { .. } => {}
        }
        Ok(())
    }

    fn model(&mut self, report: &ModelReport) {
        let late = self.states.get(&report.pipeline_id).is_some_and(|(epoch, known)| {
            *epoch == self.epoch && report.generation < known.generation
        });
        if !late {
            self.states.insert(report.pipeline_id, (self.epoch, report.clone()));
        }
    }
}
