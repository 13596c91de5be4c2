//! The effects: all actions that the core can request from the shell.

use std::collections::VecDeque;

use link_protocol::{
    allowlist::Allowlist,
    command::{Alias, ModelFile},
    counter::{Epoch, Generation},
    envelope::{CommandFault, Receipt},
    id::{CommandId, ModelId, PipelineId},
    plugin::Settings,
    port::Port,
    report::CommandResult,
    update::UpdateRequest,
};
use semver::Version;

use crate::{
    clock::Now,
    record::{Change, DownloadId, OutboxEntry, Report},
    run::Run,
};

/// An action for the shell; actions run in order.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Effect {
    /// Store these changes, in the up to four writes of [`crate::record::Steps`]. Later effects wait for the last
    /// write. If the process ends between two writes, a restart resumes from there.
    Persist(Vec<Change>),
    /// Answer a delivery. If the answer is lost, the backend delivers the command again.
    SendReceipt(Receipt),
    /// Send one report of the outbox; its outcome comes back as an event.
    SendReport(OutboxEntry),
    /// Download and verify a model file, unless a verified copy exists. If the plugin's engine is missing, download the
    /// engine first.
    /// Settings that the plugin does not take end the download before it begins.
    Download { download: DownloadId, plugin: String, settings: Settings, file: ModelFile },
    /// Stop a download and delete its partial file.
    CancelDownload { download: DownloadId },
    /// Reserve the public port for this route, which has no engine yet.
    ReservePort { run: Run, route: Route },
    /// Replace a pipeline's route on a port it holds; requests in flight continue.
    ReplaceRoute(Route),
    /// Remove the pipeline's route from the port; removing the last route frees the port.
    ReleasePort { pipeline_id: PipelineId, port: Port },
    /// Start the engine of a pipeline.
    StartEngine {
        pipeline_id: PipelineId,
        run: Run,
        plugin: String,
        settings: Settings,
        alias: Alias,
        file: ModelFile,
    },
    /// Stop the engine of a pipeline; `EngineStopped` always follows.
    StopEngine { pipeline_id: PipelineId, run: Run },
    /// Kill an unresponsive engine; `EngineEnded` follows with this reason.
    KillEngine { pipeline_id: PipelineId, run: Run, reason: String },
    /// Delete all files of a model except `keep`.
    PruneModel { keep: ModelFile },
    /// Delete one file of a model.
    DiscardFile(ModelFile),
    /// Delete every file of a model.
    DeleteModel { pipeline_id: PipelineId, model_id: ModelId },
    /// Install the next version and make it the current one; `UpdateStaged` follows. If `connected`, this version can
    /// reach the backend, so the next version must reach it too.
    StageUpdate { request: UpdateRequest, connected: bool },
    /// Shut down the pipelines and let `version` replace this process.
    ReplaceAgent { version: Version },
    /// Discard the state of this epoch and start `to_epoch` in another account.
    HandOver { to_epoch: Epoch },
    /// Write a note to the log.
    Log(Note),
}

/// The route of requests from a public port to an engine.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Route {
    pub pipeline_id: PipelineId,
    pub model_id: ModelId,
    pub alias: Alias,
    /// The plugin whose engine answers.
    pub plugin: String,
    pub port: Port,
    /// Empty if no page may call the model.
    pub allowlist: Allowlist,
    /// Whether the usage of inferences is reported.
    pub telemetry: bool,
    pub generation: Generation,
    /// The run of the engine that answers; `None` while the engine loads.
    pub engine: Option<Run>,
}

/// A log entry for the operator. Contains nothing from a command's payload.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Note {
    /// A delivery was ignored.
    Refused { reason: String },
    /// A message that claims to come from the backend lacks a valid signature and was ignored.
    Untrusted { reason: String },
    /// A command breaks its contract. The fault names the type and the field; only the local log
    /// shows it.
    Invalid { command: String, fault: CommandFault },
    /// A command was accepted.
    Accepted { command: String },
    /// A command is done.
    Finished { command: String, result: String },
}

/// The results of one event, collected from every part of the agent.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    pub(crate) now: Now,
    pub(crate) changes: Vec<Change>,
    pub(crate) effects: Vec<Effect>,
    pub(crate) finished: VecDeque<Finished>,
    pub(crate) reports: Vec<Report>,
}

/// The result of a command.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) command: CommandId,
    pub(crate) status: CommandResult,
    pub(crate) output: String,
}

impl Turn {
    /// Sets the result of a command; it is stored and reported at the end of the turn.
    pub(crate) fn report_command(
        &mut self,
        command: CommandId,
        status: CommandResult,
        output: impl Into<String>,
    ) {
        self.finished.push_back(Finished { command, status, output: output.into() });
    }
}
