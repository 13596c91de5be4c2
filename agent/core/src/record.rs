//! The agent's state on disk: the journal of commands, the pipelines, the outbox.
//!
//! A [`Snapshot`] is the sum of all [`Change`]s. Both are plain data, so that data stored by an
//! older version can be read. Pipelines are stored in the session, everything else in the journal;
//! [`Steps`] defines the order of the writes.

use link_protocol::{
    command::{Command, Lane, ModelFile, ServingConfig},
    counter::{Epoch, Generation, Seq},
    id::{CommandId, DeploymentId, DeviceId, ModelId, PipelineId},
    report::{CommandReport, LifecycleReport, ModelReport, ProgressReport},
    update::UpdateOutcome,
};
use serde::{Deserialize, Serialize};

/// A command in the journal.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct LedgerEntry {
    pub command_id: CommandId,
    pub seq: Seq,
    pub attempt: u32,
    pub lane: Lane,
    /// Absent when the payload was invalid.
    pub command: Option<Command>,
    pub exec_deadline_s: u64,
    /// Present once the command is done.
    pub result: Option<CommandReport>,
}

/// A pipeline configured on this device.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct PipelineRecord {
    pub config: ServingConfig,
    pub file: ModelFile,
    /// Whether the model should serve, also after a restart.
    pub serve: bool,
    /// Whether a START_SERVING command requested the serving.
    pub explicit: bool,
    /// Increases with every change visible to clients or the backend.
    pub generation: Generation,
    /// Whether the model's files are being deleted. The deletion resumes after a restart.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub removing: bool,
}

impl PipelineRecord {
    /// Records a change visible to clients or the backend. Saturates, because a file may contain
    /// any generation.
    pub(crate) const fn advance(&mut self) {
        self.generation = self.generation.next();
    }

    /// Returns whether an engine that was started for this record serves `wanted` as it is: it
    /// knows its file, its plugin, its settings and its alias from its start.
    pub(crate) fn shares_engine_with(&self, wanted: &Self) -> bool {
        self.file.sha256 == wanted.file.sha256
            && self.config.plugin == wanted.config.plugin
            && self.config.settings == wanted.config.settings
            && self.config.alias == wanted.config.alias
    }
}

/// A report that must not be lost.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct OutboxEntry {
    pub id: u64,
    pub report: Report,
    /// Whether the backend answered this report with 401. The report is retried once, after the
    /// backend accepts the next hello.
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

/// One change of the stored state.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Change {
    PutCommand(LedgerEntry),
    ForgetCommand(CommandId),
    PutPipeline(PipelineRecord),
    RemovePipeline(PipelineId),
    PutReport(OutboxEntry),
    RemoveReport(u64),
    /// Holds a report until the backend accepts the next hello.
    HoldReport(OutboxEntry),
    /// Keeps a permanently rejected report, which is never sent again.
    BuryReport {
        entry: OutboxEntry,
        reason: String,
    },
    SetLastSeq(Seq),
}

/// Changes in the order of their writes. Each step is atomic, but the process may end between two
/// steps. This order makes that safe: a command is in the journal before it changes a pipeline, an
/// unfinished command runs again and produces the same state, and a pipeline whose removal was
/// reported but not completed is removed again.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Steps {
    /// Commands written to the journal before any pipeline changes.
    pub intake: Vec<Change>,
    /// Pipelines written to the session.
    pub put: Vec<Change>,
    /// Other changes of the journal.
    pub journal: Vec<Change>,
    /// Pipelines deleted from the session.
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
                    // A pipeline set up again replaces the one that was removed.
                    steps.removed.retain(|other| *other != Change::RemovePipeline(id));
                    steps.put.push(change);
                }
                Change::RemovePipeline(_) => steps.removed.push(change),
                _ if takes_in(&change) => steps.intake.push(change),
                Change::PutCommand(_)
                | Change::ForgetCommand(_)
                | Change::PutReport(_)
                | Change::RemoveReport(_)
                | Change::HoldReport(_)
                | Change::BuryReport { .. }
                | Change::SetLastSeq(_) => steps.journal.push(change),
            }
        }
        if steps.put.is_empty() {
            // No pipeline change separates the two journal steps, so one write is enough.
            steps.intake.append(&mut steps.journal);
            steps.journal = std::mem::take(&mut steps.intake);
        }
        steps
    }
}

/// Returns whether a change stores an unfinished command, or an invalid one together with its
/// result. The result is stored with an invalid command because a restart could not determine it.
fn takes_in(change: &Change) -> bool {
    match change {
        Change::PutCommand(entry) => entry.result.is_none() || entry.command.is_none(),
        Change::SetLastSeq(_) => true,
        Change::ForgetCommand(_)
        | Change::PutPipeline(_)
        | Change::RemovePipeline(_)
        | Change::PutReport(_)
        | Change::RemoveReport(_)
        | Change::HoldReport(_)
        | Change::BuryReport { .. } => false,
    }
}

/// The complete stored state.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    pub commands: Vec<LedgerEntry>,
    pub pipelines: Vec<PipelineRecord>,
    pub outbox: Vec<OutboxEntry>,
    /// The highest number of a report on disk, also of one that this version cannot read.
    pub last_report: u64,
    pub last_seq: Seq,
}

impl Snapshot {
    /// Returns the model files that this state refers to.
    #[must_use]
    pub fn files(&self) -> Vec<ModelFile> {
        let pending = self.commands.iter().filter(|entry| entry.result.is_none());
        let deployed =
            pending.filter_map(|entry| Some(entry.command.as_ref()?.deployment()?.model.clone()));
        self.pipelines.iter().map(|record| record.file.clone()).chain(deployed).collect()
    }
}

/// The identity of this device, as far as the core needs it.
#[derive(Clone, Debug)]
pub struct Identity {
    pub device_id: DeviceId,
    pub epoch: Epoch,
    pub boot_id: String,
    pub agent_version: semver::Version,
    /// The outcome of the agent's last update, included in every lifecycle report.
    pub last_update: Option<UpdateOutcome>,
}

/// Identifies a download in events and effects.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct DownloadId {
    pub deployment_id: DeploymentId,
    /// Counts the downloads of this process from 1, so that each attempt has its own id.
    pub attempt: u64,
}
