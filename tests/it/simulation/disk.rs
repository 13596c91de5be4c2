//! The contents of the device's disk, and the rules for writing to it.
//!
//! Checked at every write: a result is recorded once, nothing is recorded for a command that is
//! done, and a report has its own number and is deleted only after it was accepted or replaced.

use std::collections::{BTreeMap, BTreeSet};

use link_agent_core::record::{Change, LedgerEntry, OutboxEntry, PipelineRecord, Report, Snapshot};
use link_protocol::{
    command::{ModelFile, Sha256Hex},
    counter::Seq,
    id::{CommandId, ModelId, PipelineId},
    port::Port,
    report::{CommandReport, LifecycleStatus, ModelState},
};

/// The device's disk.
#[derive(Debug, Default)]
pub(super) struct Disk {
    pub(super) commands: BTreeMap<CommandId, LedgerEntry>,
    pub(super) pipelines: BTreeMap<PipelineId, PipelineRecord>,
    pub(super) outbox: BTreeMap<u64, OutboxEntry>,
    pub(super) dead: Vec<(OutboxEntry, String)>,
    pub(super) last_seq: Seq,
    /// Complete and verified model files.
    pub(super) files: BTreeSet<(ModelId, Sha256Hex)>,
    /// Every command that was ever done, even if the journal has forgotten it.
    pub(super) done: BTreeMap<CommandId, CommandReport>,
}

impl Disk {
    /// Returns the contents, as the agent reads them at its start.
    pub(super) fn snapshot(&self) -> Snapshot {
        let mut commands: Vec<_> = self.commands.values().cloned().collect();
        commands.sort_by_key(|entry| entry.seq);
        Snapshot {
            commands,
            pipelines: self.pipelines.values().cloned().collect(),
            outbox: self.outbox.values().cloned().collect(),
            last_report: self.outbox.keys().copied().max().unwrap_or(0),
            last_seq: self.last_seq,
        }
    }

    /// Writes all changes. `taken` is the report whose result the agent has just received.
    pub(super) fn apply(&mut self, changes: &[Change], taken: Option<u64>) -> Result<(), String> {
        for (place, change) in changes.iter().enumerate() {
            match change {
                Change::PutCommand(entry) => self.put_command(entry)?,
                Change::ForgetCommand(id) => drop(self.commands.remove(id)),
                Change::PutPipeline(record) => {
                    self.pipelines.insert(record.config.pipeline_id, record.clone());
                }
                Change::RemovePipeline(id) => drop(self.pipelines.remove(id)),
                Change::PutReport(entry) => {
                    if self.outbox.insert(entry.id, entry.clone()).is_some() {
                        return Err(format!("report {} is written a second time", entry.id));
                    }
                }
                Change::HoldReport(entry) => {
                    let known = self.outbox.get_mut(&entry.id);
                    let known = known.ok_or("a report is set aside that is not there")?;
                    if known.unauthorized || !entry.unauthorized || known.report != entry.report {
                        return Err(format!("report {known:?} is set aside as {entry:?}"));
                    }
                    *known = entry.clone();
                }
                Change::RemoveReport(id) => {
                    let entry = self.outbox.remove(id);
                    let entry = entry.ok_or_else(|| format!("report {id} is not there"))?;
                    let replaced = changes[place..].iter().any(|later| follows(&entry, later));
                    if taken != Some(*id) && !replaced {
                        return Err(format!("report {entry:?} is removed, and nobody took it"));
                    }
                }
                Change::BuryReport { entry, reason } => {
                    self.outbox.remove(&entry.id).ok_or("a report is buried that is not there")?;
                    self.dead.push((entry.clone(), reason.clone()));
                }
                Change::SetLastSeq(seq) => {
                    if *seq <= self.last_seq {
                        return Err(format!("the sequence number falls to {seq}"));
                    }
                    self.last_seq = *seq;
                }
            }
        }
        Ok(())
    }

    fn put_command(&mut self, entry: &LedgerEntry) -> Result<(), String> {
        let id = entry.command_id;
        if let Some(before) = self.done.get(&id) {
            return Err(format!("{id} was done ({before:?}) and is recorded again: {entry:?}"));
        }
        if let Some(result) = &entry.result {
            self.done.insert(id, result.clone());
        }
        self.commands.insert(id, entry.clone());
        Ok(())
    }

    /// Returns whether a model is to serve on this port.
    pub(super) fn wants(&self, pipeline: PipelineId, port: Port) -> bool {
        let record = self.pipelines.get(&pipeline);
        record.is_some_and(|record| record.serve && record.config.port == port)
    }

    /// Returns whether the file of a model exists.
    pub(super) fn has(&self, file: &ModelFile) -> bool {
        self.files.contains(&(file.model_id, file.sha256.clone()))
    }
}

/// Returns whether `later` contains a newer report about the subject of `entry`.
fn follows(entry: &OutboxEntry, later: &Change) -> bool {
    let Change::PutReport(newer) = later else { return false };
    match (&entry.report, &newer.report) {
        (Report::Lifecycle(_), Report::Lifecycle(_)) => true,
        // A new process reports again what it serves, so the reports of the previous process are
        // dropped.
        (Report::Model(old), Report::Lifecycle(new)) => {
            old.state != ModelState::Removed && new.status == LifecycleStatus::Starting
        }
        (Report::Model(old), Report::Model(new)) => {
            old.pipeline_id == new.pipeline_id && new.generation >= old.generation
        }
        (Report::Progress { progress: old, .. }, Report::Progress { progress: new, .. }) => {
            old.deployment_id == new.deployment_id && old.event == new.event
        }
        (
            Report::Lifecycle(_) | Report::Model(_) | Report::Progress { .. } | Report::Command(_),
            _,
        ) => false,
    }
}
