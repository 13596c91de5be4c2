//! The events: all inputs of the agent's core.

use std::time::Duration;

use jiff::Timestamp;
use link_protocol::{
    agent_api::Welcome,
    id::PipelineId,
    port::Port,
    signing::Signed,
    update::{UpdateOutcome, UpdateRequest},
};
use semver::Version;

use crate::{record::DownloadId, run::Run, serving::Sign};

/// An input of the core.
#[derive(Clone, Debug)]
pub enum Event {
    /// The backend answered the hello: the command channel is ready.
    Welcomed(Welcome),
    /// Commands arrived.
    Polled { server_time: Timestamp, commands: Vec<Signed> },
    /// The command channel broke.
    Disconnected,
    /// The backend does not recognize this device.
    TurnedAway { reason: String },
    /// The backend accepted a report.
    ReportSent { id: u64 },
    /// A report could not be sent now. The retry must not come sooner than the backend asked.
    ReportDeferred { id: u64, retry_after: Option<Duration> },
    /// The backend did not authenticate this device for a report (401).
    ReportUnauthorized { id: u64, reason: String },
    /// The backend rejected a report permanently.
    ReportRefused { id: u64, reason: String },
    /// Bytes of a model file are on disk.
    DownloadProgressed { download: DownloadId, bytes_done: u64 },
    /// Bytes of the engine that a deployment needs before its model file are on disk.
    EngineProgressed { download: DownloadId, build: String, bytes_done: u64, bytes_total: u64 },
    /// A download ended; an incomplete or unverified file is already deleted.
    DownloadEnded { download: DownloadId, outcome: Result<(), DownloadFailure> },
    /// The outcome of the reservation of a public port. Always the first event after the effect
    /// that requested it.
    PortReserved { pipeline_id: PipelineId, run: Run, port: Port, outcome: Result<(), String> },
    /// The engine of a starting pipeline is being downloaded.
    EngineComing { pipeline_id: PipelineId, run: Run },
    /// The engine answers and is verified to be ours.
    EngineReady { pipeline_id: PipelineId, run: Run },
    /// The result of a health check of a serving engine.
    EngineLooked { pipeline_id: PipelineId, run: Run, sign: Sign },
    /// The engine could not start, or ended on its own.
    EngineEnded { pipeline_id: PipelineId, run: Run, reason: String },
    /// The engine stopped at our request.
    EngineStopped { pipeline_id: PipelineId, run: Run },
    /// The deletion of a model's files ended.
    ModelDeleted { pipeline_id: PipelineId, outcome: Result<(), String> },
    /// A person at this machine made a request; the state shows its outcome.
    Wished(Wish),
    /// A person at this machine requested an update.
    UpdateAsked(UpdateRequest),
    /// Staging the next version ended.
    UpdateStaged(Staged),
    /// A version on trial was kept.
    UpdateSettled(UpdateOutcome),
    /// The time given by [`crate::agent::Agent::deadline`] was reached.
    DeadlineReached,
}

/// A request of a person at this machine.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Wish {
    Serve(PipelineId),
    Stop(PipelineId),
    CancelDeploy(PipelineId),
    Remove(PipelineId),
}

/// The reason why a download produced no file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum DownloadFailure {
    Cancelled,
    /// The failure, in words for a person.
    Failed(String),
}

/// The outcome of staging the next version.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Staged {
    /// The version is current on disk and waits to take over.
    Ready(Version),
    /// This version already runs.
    UpToDate(Version),
    /// There is nothing to install; the reason is for a person.
    Declined(String),
    /// The failure, in words for a person.
    Failed(String),
}
