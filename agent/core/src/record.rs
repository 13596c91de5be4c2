//! What the agent keeps on disk: the journal of commands, the pipelines, the outbox.
//!
//! A [`Snapshot`] is the sum of all [`Change`]s; both are plain data, so that a stored one of an
//! older version reads back. The pipelines are kept in the session, everything else in the journal,
//! and [`Steps`] is the order in which a set of changes reaches the two.

use link_protocol::{
    command::{Command, Lane, ModelFile, ServingConfig},
    id::{CommandId, DeploymentId, DeviceId, ModelId, PipelineId},
    report::{CommandReport, LifecycleReport, ModelReport, ProgressReport},
    update::UpdateOutcome,
};
use serde::{Deserialize, Serialize};

/// A command in the journal.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct LedgerEntry {
    pub command_id: CommandId,
    pub seq: u64,
    pub attempt: u32,
    pub lane: Lane,
    /// Absent when the payload was invalid.
    pub command: Option<Command>,
    pub exec_deadline_s: u64,
    /// Present once the command is done.
    pub result: Option<CommandReport>,
}

/// A pipeline that is set up on this device.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct PipelineRecord {
    pub config: ServingConfig,
    pub file: ModelFile,
    /// Whether it should serve; it is started again after a restart.
    pub serve: bool,
    /// Whether an explicit START_SERVING asked for it.
    pub explicit: bool,
    /// Grows with every change that clients or the backend can see.
    pub generation: u64,
    /// Whether its files are being deleted; that goes on after a restart.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub removing: bool,
}

impl PipelineRecord {
    /// Notes a change that clients or the backend can see. A file may hold any generation, so the
    /// last one is never passed.
    pub(crate) const fn advance(&mut self) {
        self.generation = self.generation.saturating_add(1);
    }
}

/// A report that must not be lost.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct OutboxEntry {
    pub id: u64,
    pub report: Report,
    /// Whether the backend has refused the device itself (401) when it was handed in. It is offered
    /// once more after the next hello that the backend accepts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unauthorized: bool,
}

/// The reports that go through the outbox.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(tag = "kind", content = "body", rename_all = "snake_case")]
pub enum Report {
    Lifecycle(LifecycleReport),
    Command(CommandReport),
    Model(ModelReport),
    Progress { model_id: ModelId, progress: ProgressReport },
}

/// One change of what is on disk.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Change {
    PutCommand(LedgerEntry),
    ForgetCommand(CommandId),
    PutPipeline(PipelineRecord),
    RemovePipeline(PipelineId),
    PutReport(OutboxEntry),
    RemoveReport(u64),
    /// It waits for the next hello that the backend accepts.
    SetAside(OutboxEntry),
    /// The backend refused it for good: kept aside, never sent again.
    BuryReport {
        entry: OutboxEntry,
        reason: String,
    },
    SetLastSeq(u64),
}

/// A set of changes in the order in which it is written. Each step is whole or not at all, and the
/// process may end between two: a command is in the journal before it changes a pipeline, one that
/// is not yet done there runs again towards the same target, and a pipeline that is still there
/// though its removal was reported is removed once more.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Steps {
    /// Commands that are taken into the journal before any pipeline changes.
    pub intake: Vec<Change>,
    /// Pipelines that are put into the session.
    pub put: Vec<Change>,
    /// What else is written to the journal.
    pub journal: Vec<Change>,
    /// Pipelines that are taken out of the session.
    pub removed: Vec<Change>,
}

impl Steps {
    /// Sorts `changes` into steps.
    #[must_use]
    pub fn of(changes: Vec<Change>) -> Self {
        let mut steps = Self::default();
        for change in changes {
            match &change {
                Change::PutPipeline(record) => {
                    let id = record.config.pipeline_id;
                    // One that is set up again takes the place of the one that was removed.
                    steps.removed.retain(|other| *other != Change::RemovePipeline(id));
                    steps.put.push(change);
                }
                Change::RemovePipeline(_) => steps.removed.push(change),
                _ if takes_in(&change) => steps.intake.push(change),
                Change::PutCommand(_)
                | Change::ForgetCommand(_)
                | Change::PutReport(_)
                | Change::RemoveReport(_)
                | Change::SetAside(_)
                | Change::BuryReport { .. }
                | Change::SetLastSeq(_) => steps.journal.push(change),
            }
        }
        if steps.put.is_empty() {
            // Nothing comes between the two: one write does.
            steps.intake.append(&mut steps.journal);
            steps.journal = std::mem::take(&mut steps.intake);
        }
        steps
    }
}

/// Whether a change notes a command that is still to be done, or one that cannot be: its result is
/// noted with it, because a restart would not know what it was.
fn takes_in(change: &Change) -> bool {
    match change {
        Change::PutCommand(entry) => entry.result.is_none() || entry.command.is_none(),
        Change::SetLastSeq(_) => true,
        Change::ForgetCommand(_)
        | Change::PutPipeline(_)
        | Change::RemovePipeline(_)
        | Change::PutReport(_)
        | Change::RemoveReport(_)
        | Change::SetAside(_)
        | Change::BuryReport { .. } => false,
    }
}

/// Everything on disk.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    pub commands: Vec<LedgerEntry>,
    pub pipelines: Vec<PipelineRecord>,
    pub outbox: Vec<OutboxEntry>,
    pub last_seq: u64,
}

impl Snapshot {
    /// The model files that something in here names.
    #[must_use]
    pub fn files(&self) -> Vec<ModelFile> {
        let pending = self.commands.iter().filter(|entry| entry.result.is_none());
        let deployed = pending.filter_map(|entry| match entry.command.as_ref()? {
            Command::DeployModel(deploy) | Command::UpdateModel(deploy) => {
                Some(deploy.model.clone())
            }
            Command::CancelDeploy(_)
            | Command::StartServing(_)
            | Command::StopServing(_)
            | Command::RepairServing(_)
            | Command::UpdatePipeline(_)
            | Command::UninstallModel(_)
            | Command::UpdateAgent(_) => None,
        });
        self.pipelines.iter().map(|record| record.file.clone()).chain(deployed).collect()
    }
}

/// Who this device is, as far as the core must know.
#[derive(Clone, Debug)]
pub struct Identity {
    pub device_id: DeviceId,
    pub epoch: u64,
    pub boot_id: String,
    pub agent_version: semver::Version,
    /// What became of the last update of the agent, which every lifecycle report tells.
    pub last_update: Option<UpdateOutcome>,
}

/// Names a deployment under way in an event or effect; a new number for each try.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct DownloadId {
    pub deployment_id: DeploymentId,
    pub run: u64,
}
