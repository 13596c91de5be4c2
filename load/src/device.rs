//! One simulated device: what an agent decides about deliveries, without a model or a disk.
//!
//! Pure. A command is written to the journal once and takes effect once, in the order of `seq`
//! within its lane, each a while after the one before; the control lane overtakes. The journal
//! outlives a restart of the device, as an agent's does.

use std::collections::BTreeMap;

use link_protocol::{
    agent_api::{Hello, Inflight},
    command::{Command, Lane},
    envelope::{Envelope, Receipt, ReceiptKind},
    id::{CommandId, DeploymentId, ModelId},
    identity::Identity,
    limits,
    report::{CommandReport, CommandResult, ModelReport, ModelState},
};

use crate::history::What;

/// A mistake that a device can be told to make, for a test of the checker.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Flaw {
    /// It does again what is delivered again.
    RepeatsEffects,
    /// It does the latest of what was delivered together first.
    ReversesOrder,
}

/// A simulated device.
#[derive(Debug)]
pub struct Simulated {
    pub identity: Identity,
    boot: u64,
    last_seq: u64,
    /// Microseconds that carrying out one command takes.
    work_us: u64,
    flaw: Option<Flaw>,
    journal: BTreeMap<CommandId, Entry>,
    /// What it was deployed, as it lists it: what it did not list it would be given again.
    models: BTreeMap<ModelId, ModelReport>,
}

#[derive(Debug)]
struct Entry {
    seq: u64,
    attempt: u32,
    lane: Lane,
    /// The deployment that the command makes.
    deploys: Option<DeploymentId>,
    /// The deployment that the command ends.
    cancels: Option<DeploymentId>,
    /// What the device has of a model afterwards.
    leaves: Option<(ModelId, Option<ModelReport>)>,
    valid: bool,
    /// When it takes effect; `None` once it is done.
    due_us: Option<u64>,
    result: Option<CommandResult>,
    /// Whether the backend has the result.
    told: bool,
    /// By its flaw the device does it once more.
    again: bool,
}

impl Simulated {
    /// Makes a device with an empty journal that takes `work_us` for each command.
    #[must_use]
    pub const fn new(identity: Identity, work_us: u64, flaw: Option<Flaw>) -> Self {
        Self {
            identity,
            boot: 1,
            last_seq: 0,
            work_us,
            flaw,
            journal: BTreeMap::new(),
            models: BTreeMap::new(),
        }
    }

    /// The highest sequence number in the journal.
    #[must_use]
    pub const fn last_seq(&self) -> u64 {
        self.last_seq
    }

    /// What the device says at the start of a connection.
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

    /// The process of the device ends and starts again: what was not done begins anew.
    pub fn restart(&mut self, now_us: u64) {
        self.boot += 1;
        let mut waiting: Vec<(u64, CommandId)> = self
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

    /// Takes a delivery and returns the receipt for it.
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

    /// What the record keeps of a delivery.
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

    /// When something is to be done next.
    #[must_use]
    pub fn next_work(&self) -> Option<u64> {
        self.journal.values().filter_map(|entry| entry.due_us).min()
    }

    /// Does what is due, in order, and returns the commands that took effect.
    pub fn work(&mut self, now_us: u64) -> Vec<CommandId> {
        let mut due: Vec<(u64, u64, CommandId)> = self
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
            // A cancellation before it in this very turn may have ended it.
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

    /// The results that the backend does not have yet.
    #[must_use]
    pub fn untold(&self) -> Vec<CommandReport> {
        let untold = self.journal.iter().filter(|(_, entry)| !entry.told);
        untold.filter_map(|(command, entry)| report(*command, entry)).collect()
    }

    /// The backend has the result of `command`, or will not take it.
    pub fn told(&mut self, command: CommandId) {
        self.entry(command, |entry| entry.told = true);
    }

    /// The backend does not wait for `command` any more: it is not begun.
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

    /// A lane does one thing after another; the control lane overtakes, the agent lane waits.
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

    /// Ids are made in the order of time, so the first that is done is the oldest.
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
                generation: 1,
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
