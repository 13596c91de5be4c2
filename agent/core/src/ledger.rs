//! The journal of commands: each command is stored before it is acknowledged and takes effect once.
//!
//! Commands of one model run in order. Control commands overtake them. A command of the agent lane
//! waits for all earlier commands and blocks all later ones. Finished commands are kept, so that a
//! redelivery is answered with the original result.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use link_protocol::{
    agent_api::Inflight,
    command::{Command, Lane},
    counter::{Generation, Seq},
    envelope::{Envelope, Receipt, ReceiptKind},
    id::CommandId,
    limits,
    report::{CommandReport, CommandResult},
};

use crate::{
    clock::Now,
    record::{Change, LedgerEntry},
};

/// The number of commands that may run concurrently.
const PARALLEL: usize = 8;

/// The number of generations reserved for each command, so that a pipeline's generation never
/// reaches those of the next command.
const GENERATIONS: u64 = 1_000_000;

/// The journal.
#[derive(Debug, Default)]
pub struct Ledger {
    entries: BTreeMap<CommandId, LedgerEntry>,
    /// The unfinished commands, by sequence number.
    pending: BTreeMap<Seq, CommandId>,
    running: BTreeMap<CommandId, Running>,
    last_seq: Seq,
}

/// The deadlines of a running command.
#[derive(Clone, Copy, Debug)]
struct Running {
    deadline: Now,
    /// The latest time to which the deadline can be extended.
    latest: Now,
}

impl Ledger {
    /// Restores the journal from disk. Every unfinished command runs again and produces the same
    /// state.
    #[must_use]
    pub fn restore(entries: Vec<LedgerEntry>, last_seq: Seq) -> Self {
        let pending = entries
            .iter()
            .filter(|entry| entry.result.is_none())
            .map(|entry| (entry.seq, entry.command_id))
            .collect();
        let entries = entries.into_iter().map(|entry| (entry.command_id, entry)).collect();
        Self { entries, pending, running: BTreeMap::new(), last_seq }
    }

    /// Returns the receipt for a delivery of a command that is already in the journal.
    #[must_use]
    pub fn repeat(&self, envelope: &Envelope) -> Option<Receipt> {
        let entry = self.entries.get(&envelope.command_id)?;
        let receipt =
            if entry.result.is_some() { ReceiptKind::Done } else { ReceiptKind::Duplicate };
        Some(Receipt {
            command_id: envelope.command_id,
            attempt: envelope.attempt,
            receipt,
            result: entry.result.clone(),
        })
    }

    /// Returns whether the journal has room for another command of `lane`.
    #[must_use]
    pub fn has_room(&self, lane: Lane) -> bool {
        self.pending.len() < lane.queue_limit()
    }

    /// Stores a command; its receipt may be sent once the change is on disk.
    pub fn store(
        &mut self,
        envelope: &Envelope,
        command: Option<Command>,
        changes: &mut Vec<Change>,
    ) -> Receipt {
        let entry = LedgerEntry {
            command_id: envelope.command_id,
            seq: envelope.seq,
            attempt: envelope.attempt,
            lane: envelope.lane,
            command,
            exec_deadline_s: envelope.exec_deadline_s,
            result: None,
        };
        self.pending.insert(entry.seq, entry.command_id);
        if entry.seq > self.last_seq {
            self.last_seq = entry.seq;
            changes.push(Change::SetLastSeq(entry.seq));
        }
        changes.push(Change::PutCommand(entry.clone()));
        self.entries.insert(entry.command_id, entry);
        Receipt {
            command_id: envelope.command_id,
            attempt: envelope.attempt,
            receipt: ReceiptKind::Stored,
            result: None,
        }
    }

    /// Starts and returns the next command that may run.
    pub fn start_next(&mut self, now: Now) -> Option<(CommandId, Command)> {
        let id = self.next_runnable()?;
        let entry = &self.entries[&id];
        let limit = Duration::from_secs(entry.exec_deadline_s.max(1));
        let deadline = now.saturating_add(limit);
        let latest = now.saturating_add(limits::DEPLOY_EXECUTION_DEADLINE).max(deadline);
        self.running.insert(id, Running { deadline, latest });
        entry.command.clone().map(|command| (id, command))
    }

    /// Extends the deadline of a running command whose engine is still being downloaded. In total the command never has longer
    /// than a command with a download.
    pub fn extend(&mut self, id: CommandId, now: Now) {
        if let Some(running) = self.running.get_mut(&id) {
            let anew = now.saturating_add(limits::EXECUTION_DEADLINE).min(running.latest);
            running.deadline = running.deadline.max(anew);
        }
    }

    /// Records the result of a command; returns nothing if the command already has one.
    pub fn finish(
        &mut self,
        id: CommandId,
        status: CommandResult,
        output: &str,
        changes: &mut Vec<Change>,
    ) -> Option<CommandReport> {
        let entry = self.entries.get_mut(&id).filter(|entry| entry.result.is_none())?;
        let report = CommandReport {
            command_id: id,
            status,
            output: output.to_owned(),
            attempt: entry.attempt,
        };
        entry.result = Some(report.clone());
        changes.push(Change::PutCommand(entry.clone()));
        self.pending.remove(&entry.seq);
        self.running.remove(&id);
        self.forget_oldest(changes);
        Some(report)
    }

    /// The first generation of a pipeline that `id` sets up. It is above every generation that an
    /// earlier pipeline of the same model had, so that readers never treat the new reports as
    /// stale.
    #[must_use]
    pub fn first_generation(&self, id: CommandId) -> Generation {
        let seq = self.entries.get(&id).map_or(0, |entry| entry.seq.0);
        Generation(seq.saturating_mul(GENERATIONS)).next()
    }

    /// Returns the commands that wait for their turn, the oldest first.
    pub fn waiting(&self) -> impl Iterator<Item = (CommandId, &Command)> {
        let waiting = self.pending.values().filter(|id| !self.running.contains_key(*id));
        waiting.filter_map(|id| Some((*id, self.entries[id].command.as_ref()?)))
    }

    /// Returns the newer command, running or succeeded, that outdates `id`. An older command that
    /// arrives late, for example because a router held it back, must not undo a newer one.
    #[must_use]
    pub fn replaced_by(&self, id: CommandId) -> Option<CommandId> {
        let older = self.entries.get(&id)?;
        let wish = older.command.as_ref()?;
        let counts = |entry: &&LedgerEntry| {
            let succeeded = |report: &CommandReport| report.status == CommandResult::Succeeded;
            entry.seq > older.seq
                && (self.running.contains_key(&entry.command_id)
                    || entry.result.as_ref().is_some_and(succeeded))
                && entry.command.as_ref().is_some_and(|newer| newer.outdates(wish))
        };
        self.entries.values().filter(counts).max_by_key(|entry| entry.seq).map(|one| one.command_id)
    }

    /// Returns a running command that has timed out.
    #[must_use]
    pub fn overdue(&self, now: Now) -> Option<CommandId> {
        self.running.iter().find(|(_, running)| running.deadline <= now).map(|(id, _)| *id)
    }

    /// Returns the earliest deadline of the running commands.
    #[must_use]
    pub fn deadline(&self) -> Option<Now> {
        self.running.values().map(|running| running.deadline).min()
    }

    /// Returns the highest sequence number in the journal.
    #[must_use]
    pub const fn last_seq(&self) -> Seq {
        self.last_seq
    }

    /// Returns the unfinished commands in the journal.
    #[must_use]
    pub fn inflight(&self) -> Vec<Inflight> {
        let inflight = |id: &CommandId| Inflight {
            command_id: *id,
            attempt: self.entries[id].attempt,
            running: self.running.contains_key(id),
        };
        self.pending.values().map(inflight).collect()
    }

    fn next_runnable(&self) -> Option<CommandId> {
        let mut busy = BTreeSet::new();
        let mut barrier = false;
        for id in self.pending.values() {
            let lane = self.entries[id].lane;
            let running = self.running.contains_key(id);
            let free = match lane {
                Lane::Control => true,
                Lane::Model(_) => {
                    !barrier && !busy.contains(&lane) && self.running.len() < PARALLEL
                }
                Lane::Agent => !barrier && busy.is_empty(),
            };
            if free && !running {
                return Some(*id);
            }
            barrier |= lane == Lane::Agent;
            if lane != Lane::Control {
                busy.insert(lane);
            }
        }
        None
    }

    fn forget_oldest(&mut self, changes: &mut Vec<Change>) {
        let done = self.entries.len() - self.pending.len();
        if done <= limits::RESULTS_KEPT {
            return;
        }
        let oldest = self
            .entries
            .values()
            .filter(|entry| entry.result.is_some())
            .min_by_key(|entry| entry.seq)
            .map(|entry| entry.command_id);
        if let Some(id) = oldest {
            self.entries.remove(&id);
            changes.push(Change::ForgetCommand(id));
        }
    }
}

#[cfg(test)]
mod tests;
