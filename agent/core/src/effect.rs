//! Everything the shell can be told to do.

use std::collections::VecDeque;

use link_protocol::{
    allowlist::Allowlist,
    command::{Alias, ModelFile},
    envelope::{CommandFault, Receipt},
    id::{CommandId, ModelId, PipelineId},
    port::Port,
    report::CommandResult,
    update::UpdateRequest,
};
use semver::Version;

use crate::{
    clock::Now,
    record::{Change, DownloadId, OutboxEntry, Report},
};

/// What the shell must do next, in order.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Effect {
    /// Write all changes in one transaction. What follows waits for it.
    Persist(Vec<Change>),
    /// Answer a delivery. When it is lost the backend delivers again.
    SendReceipt(Receipt),
    /// Send one report of the outbox; its fate comes back as an event.
    SendReport(OutboxEntry),
    /// Fetch and verify a model file, unless it is there already.
    Download { download: DownloadId, file: ModelFile },
    /// Stop a download at once and delete what there is of it.
    CancelDownload { download: DownloadId },
    /// Take the public port for this route, which has no engine yet.
    ReservePort { run: u64, route: Route },
    /// Replace the route of a pipeline on a port that it holds; requests in flight go on.
    ReplaceRoute(Route),
    /// Take the pipeline's route off the port; the last one frees the port.
    ReleasePort { pipeline_id: PipelineId, port: Port },
    /// Start the engine of a pipeline.
    StartEngine { pipeline_id: PipelineId, run: u64, plugin: String, alias: Alias, file: ModelFile },
    /// Stop it; `EngineStopped` follows in any case.
    StopEngine { pipeline_id: PipelineId, run: u64 },
    /// Kill an engine that is given up; `EngineEnded` follows with this reason.
    KillEngine { pipeline_id: PipelineId, run: u64, reason: String },
    /// Delete every file of a model but the one to keep.
    PruneModel { keep: ModelFile },
    /// Delete one file of a model.
    DiscardFile(ModelFile),
    /// Delete every file of a model.
    DeleteModel { pipeline_id: PipelineId, model_id: ModelId },
    /// Bring the next version here and point to it; `UpdateStaged` follows.
    /// `connected` says that this version reaches the backend, which the next one then must, too.
    StageUpdate { request: UpdateRequest, connected: bool },
    /// Shut the pipelines down and let this version take over the process.
    ReplaceAgent { version: Version },
    /// Drop everything of this epoch, and begin `to_epoch` in another account.
    HandOver { to_epoch: u64 },
    /// Tell the operator.
    Log(Note),
}

/// How requests to a public port reach an engine.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Route {
    pub pipeline_id: PipelineId,
    pub model_id: ModelId,
    pub alias: Alias,
    pub port: Port,
    /// Empty where no page may call.
    pub allowlist: Allowlist,
    /// Whether the usage of inferences is reported.
    pub telemetry: bool,
    pub generation: u64,
    /// The run of the engine that answers; none while it loads.
    pub engine: Option<u64>,
}

/// Something an operator may want to read. Holds nothing of a command's payload.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Note {
    /// A delivery had no effect.
    Refused { reason: String },
    /// What claims to come from the backend is not signed by it, and had no effect.
    Untrusted { reason: String },
    /// A command is not what its contract says. Names its type and the field, and stays here.
    Invalid { command: String, fault: CommandFault },
    /// A command was accepted.
    Accepted { command: String },
    /// A command is done.
    Finished { command: String, result: String },
}

/// What one event leads to, gathered from every part of the agent.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    pub(crate) now: Now,
    pub(crate) changes: Vec<Change>,
    pub(crate) effects: Vec<Effect>,
    pub(crate) finished: VecDeque<Finished>,
    pub(crate) reports: Vec<Report>,
}

/// A command has its result.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) command: CommandId,
    pub(crate) status: CommandResult,
    pub(crate) output: String,
}

impl Turn {
    /// A command has its result, which is written down and reported.
    pub(crate) fn report_command(
        &mut self,
        command: CommandId,
        status: CommandResult,
        output: impl Into<String>,
    ) {
        self.finished.push_back(Finished { command, status, output: output.into() });
    }
}
