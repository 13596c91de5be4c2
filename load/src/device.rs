//! One simulated device: an agent's decisions about deliveries, without a model or a disk.
//!
//! Pure. A command enters the journal once and takes effect once. Within a lane, commands take
//! effect one after another in the order of `seq`; the control lane overtakes all others. The
//! journal survives a restart of the device, as an agent's journal does.

use std::collections::BTreeMap;

use link_protocol::{
    agent_api::{Hello, Inflight},
    command::{Command, Lane},
    counter::{Generation, Seq},
    envelope::{Envelope, Receipt, ReceiptKind},
    id::{CommandId, DeploymentId, ModelId},
    identity::Identity,
    limits,
    report::{CommandReport, CommandResult, ModelReport, ModelState},
};

use crate::history::What;

/// A deliberate mistake of a device, to test the checker.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Flaw {
    /// The device repeats the effect of a repeated delivery.
    RepeatsEffects,
    /// The device reverses the order of commands delivered together.
    ReversesOrder,
}

/// A simulated device.
#[derive(Debug)]
pub struct Simulated {
    pub identity: Identity,
    boot: u64,
    last_seq: Seq,
    /// The duration of one command, in microseconds.
    work_us: u64,
    flaw: Option<Flaw>,
    journal: BTreeMap<CommandId, Entry>,
    /// The deployed models, as the hello lists them; the backend deploys unlisted ones again.
    models: BTreeMap<ModelId, ModelReport>,
}

#[derive(Debug)]
struct Entry {
    seq: Seq,
    attempt: u32,
    lane: Lane,
    /// The deployment that the command creates.
    deploys: Option<DeploymentId>,
    /// The deployment that the command cancels.
    cancels: Option<DeploymentId>,
    /// The state of a model after the command.
    leaves: Option<(ModelId, Option<ModelReport>)>,
    valid: bool,
    /// The time at which the command takes effect; `None` once it is done.
    due_us: Option<u64>,
    result: Option<CommandResult>,
    /// Whether the backend has the result.
    told: bool,
    /// Whether the device repeats the command because of its flaw.
    again: bool,
}

impl Simulated {
    /// Creates a device with an empty journal that needs `work_us` microseconds for each command.
    #[must_use]
    pub const fn new(identity: Identity, work_us: u64, flaw: Option<Flaw>) -> Self {
        Self {
            identity,
            boot: 1,
            last_seq: Seq(0),
            work_us,
            flaw,
            journal: BTreeMap::new(),
            models: BTreeMap::new(),
        }
    }

    /// Returns the highest sequence number in the journal.
    #[must_use]
    pub const fn last_seq(&self) -> Seq {
        self.last_seq
    }

    /// Returns the hello for the start of a connection.
    #[must_use]
    pub fn hello(&self) -> Hello {
        let inflight = self.journal.iter().filter(|(_, entry)| entry.result.is_none());
        Hello {
            epoch: self.identity.epoch,
            boot_id: format!("{}-{}", self.identity.device_id, self.boot),
            agent_version: semver::Version::new(1, 0, 0),
            last_seq: self.last_seq,
            inflight: inflight
                .map(|(command, entry)| Inflight {
                    command_id: *command,
                    attempt: entry.attempt,
                    running: entry.due_us.is_some(),
                })
                .collect(),
            serving: self.models.values().cloned().collect(),
        }
    }

    /// Restarts the device: unfinished commands start over.
    pub fn restart(&mut self, now_us: u64) {
        self.boot += 1;
        let mut waiting: Vec<(Seq, CommandId)> = self
            .journal
            .iter()
            .filter(|(_, entry)| entry.due_us.is_some())
            .map(|(command, entry)| (entry.seq, *command))
            .collect();
        waiting.sort_unstable();
        for (_, command) in &waiting {
            self.entry(*command, |entry| entry.due_us = Some(u64::MAX));
        }
        for (_, command) in waiting {
            let lane = self.journal.get(&command).map_or(Lane::Control, |entry| entry.lane);
            let due = self.next_due(lane, now_us);
            self.entry(command, |entry| entry.due_us = Some(due));
        }
    }

    /// Handles a delivery and returns its receipt.
    pub fn deliver(&mut self, envelope: &Envelope, now_us: u64) -> Receipt {
        let command_id = envelope.command_id;
        let answer =
            |receipt, result| Receipt { command_id, attempt: envelope.attempt, receipt, result };
        if let Some(entry) = self.journal.get_mut(&command_id) {
            if self.flaw == Some(Flaw::RepeatsEffects) {
                entry.again = entry.due_us.is_some();
                entry.due_us = entry.due_us.or(Some(now_us));
            }
            return match report(command_id, entry) {
                Some(report) => answer(ReceiptKind::Done, Some(report)),
                None => answer(ReceiptKind::Duplicate, None),
            };
        }
        let foreign =
            envelope.device_id != self.identity.device_id || envelope.epoch != self.identity.epoch;
        if foreign || envelope.ttl_ms == 0 {
            return answer(ReceiptKind::Expired, None);
        }
        let command = envelope.command().ok();
        let entry = Entry {
            seq: envelope.seq,
            attempt: envelope.attempt,
            lane: envelope.lane,
            deploys: command
                .as_ref()
                .and_then(Command::deployment)
                .map(|begun| begun.deployment_id),
            cancels: command.as_ref().and_then(cancelled_by),
            leaves: command.as_ref().and_then(leaves),
            valid: command.is_some(),
            due_us: Some(self.next_due(envelope.lane, now_us)),
            result: None,
            told: false,
            again: false,
        };
        self.last_seq = self.last_seq.max(envelope.seq);
        self.journal.insert(command_id, entry);
        self.forget_oldest();
        answer(ReceiptKind::Stored, None)
    }

    /// Returns the event that records a delivery.
    #[must_use]
    pub fn delivered(envelope: &Envelope) -> What {
        let command = envelope.command().ok();
        let cancels = command.as_ref().and_then(cancelled_by);
        What::Delivered {
            command: envelope.command_id,
            seq: envelope.seq,
            lane: envelope.lane,
            attempt: envelope.attempt,
            deployment: cancels.or_else(|| {
                command.as_ref().and_then(Command::deployment).map(|begun| begun.deployment_id)
            }),
            cancels: cancels.is_some(),
        }
    }

    /// Returns the time at which the next command takes effect.
    #[must_use]
    pub fn next_work(&self) -> Option<u64> {
        self.journal.values().filter_map(|entry| entry.due_us).min()
    }

    /// Carries out the commands that are due, in order, and returns those that took effect.
    pub fn work(&mut self, now_us: u64) -> Vec<CommandId> {
        let mut due: Vec<(u64, Seq, CommandId)> = self
            .journal
            .iter()
            .filter_map(|(command, entry)| Some((entry.due_us?, entry.seq, *command)))
            .filter(|(due, ..)| *due <= now_us)
            .collect();
        due.sort_unstable();
        if self.flaw == Some(Flaw::ReversesOrder) {
            due.reverse();
        }
        let mut effects = Vec::new();
        for (.., command) in due {
            // A cancel earlier in this loop may have ended this command.
            let Some(entry) = self.journal.get(&command).filter(|entry| entry.due_us.is_some())
            else {
                continue;
            };
            let (valid, cancels, again) = (entry.valid, entry.cancels, entry.again);
            match entry.leaves.clone() {
                Some((model, Some(report))) => drop(self.models.insert(model, report)),
                Some((model, None)) => drop(self.models.remove(&model)),
                None => {}
            }
            let result = if valid { CommandResult::Succeeded } else { CommandResult::Rejected };
            self.finish(command, result);
            if valid {
                effects.extend(std::iter::repeat_n(command, if again { 2 } else { 1 }));
            }
            if let Some(deployment) = cancels {
                self.cancel(deployment);
            }
        }
        effects
    }

    /// Returns the results that the backend does not have yet.
    #[must_use]
    pub fn untold(&self) -> Vec<CommandReport> {
        let untold = self.journal.iter().filter(|(_, entry)| !entry.told);
        untold.filter_map(|(command, entry)| report(*command, entry)).collect()
    }

    /// Records that the backend has accepted or refused the result of `command`.
    pub fn told(&mut self, command: CommandId) {
        self.entry(command, |entry| entry.told = true);
    }

    /// Cancels `command`, which the backend has withdrawn, unless the command is done.
    pub fn withdraw(&mut self, command: CommandId) {
        self.entry(command, |entry| {
            if entry.due_us.take().is_some() {
                entry.result = Some(CommandResult::Cancelled);
                entry.told = true;
            }
        });
    }

    fn cancel(&mut self, deployment: DeploymentId) {
        let meant: Vec<CommandId> = self
            .journal
            .iter()
            .filter(|(_, entry)| entry.due_us.is_some() && entry.deploys == Some(deployment))
            .map(|(command, _)| *command)
            .collect();
        for command in meant {
            self.finish(command, CommandResult::Cancelled);
        }
    }

    fn finish(&mut self, command: CommandId, result: CommandResult) {
        self.entry(command, |entry| {
            entry.due_us = None;
            entry.result = entry.result.or(Some(result));
        });
    }

    /// Returns the time at which the next command of `lane` takes effect. A lane runs one command
    /// at a time, the control lane overtakes all others, and the agent lane waits for all others.
    fn next_due(&self, lane: Lane, now_us: u64) -> u64 {
        let before = self.journal.values().filter(|entry| match lane {
            Lane::Control => false,
            Lane::Model(_) => entry.lane == lane || entry.lane == Lane::Agent,
            Lane::Agent => true,
        });
        let busy_until = before.filter_map(|entry| entry.due_us).filter(|due| *due != u64::MAX);
        let start = busy_until.max().unwrap_or(0).max(now_us);
        if lane == Lane::Control { start } else { start.saturating_add(self.work_us) }
    }

    fn entry(&mut self, command: CommandId, change: impl FnOnce(&mut Entry)) {
        if let Some(entry) = self.journal.get_mut(&command) {
            change(entry);
        }
    }

    /// Forgets the oldest finished command; ids sort by creation time.
    fn forget_oldest(&mut self) {
        if self.journal.len() > limits::RESULTS_KEPT {
            let oldest = self.journal.iter().find(|(_, entry)| entry.told).map(|(id, _)| *id);
            oldest.and_then(|id| self.journal.remove(&id));
        }
    }
}

fn report(command_id: CommandId, entry: &Entry) -> Option<CommandReport> {
    let attempt = entry.attempt;
    entry.result.map(|status| CommandReport { command_id, status, output: String::new(), attempt })
}

fn leaves(command: &Command) -> Option<(ModelId, Option<ModelReport>)> {
    match command {
        Command::DeployModel(deploy) | Command::UpdateModel(deploy) => {
            let model = deploy.model.model_id;
            let report = ModelReport {
                model_id: model,
                pipeline_id: deploy.pipeline_id,
                state: ModelState::NotServing,
                is_serving: false,
                port: deploy.config.port,
                allowlist_digest: deploy.config.allowlist.digest().to_owned(),
                generation: Generation(1),
                detail: None,
            };
            Some((model, Some(report)))
        }
        Command::UninstallModel(uninstall) => Some((uninstall.model_id, None)),
        Command::CancelDeploy(_)
        | Command::StartServing(_)
        | Command::StopServing(_)
        | Command::RepairServing(_)
        | Command::UpdatePipeline(_)
        | Command::UpdateAgent(_) => None,
    }
}

fn cancelled_by(command: &Command) -> Option<DeploymentId> {
    match command {
        Command::CancelDeploy(cancel) => Some(cancel.deployment_id),
        Command::DeployModel(_)
        | Command::UpdateModel(_)
        | Command::StartServing(_)
        | Command::StopServing(_)
        | Command::RepairServing(_)
        | Command::UpdatePipeline(_)
        | Command::UninstallModel(_)
        | Command::UpdateAgent(_) => None,
    }
}

#[cfg(test)]
mod tests;
