//! What the agent keeps on disk: the journal of commands, the pipelines, the outbox.
//!
//! A [`Snapshot`] is the sum of all [`Change`]s; both are plain data, so that a stored one of an
//! older version reads back.

use link_protocol::{
    command::{Command, Lane, ModelFile, PipelineConfig},
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
    pub config: PipelineConfig,
    pub file: ModelFile,
    /// Whether it should serve; it is started again after a restart.
    pub serve: bool,
    /// Whether an explicit START_SERVING asked for it.
    pub explicit: bool,
    /// Grows with every change that clients or the backend can see.
    pub generation: u64,
}

/// A report that must not be lost.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct OutboxEntry {
    pub id: u64,
    pub report: Report,
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
    /// The backend refused it for good: kept aside, never sent again.
    BuryReport {
        entry: OutboxEntry,
        reason: String,
    },
    SetLastSeq(u64),
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
