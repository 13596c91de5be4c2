//! Everything that can happen to the agent.

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

use crate::{record::DownloadId, serving::Sign};

/// Something happened.
#[derive(Clone, Debug)]
pub enum Event {
    /// The backend answered the hello: the command channel is ready.
    Welcomed(Welcome),
    /// Commands arrived.
    Polled { server_time: Timestamp, commands: Vec<Signed> },
    /// The command channel broke.
    Disconnected,
    /// The backend does not know this device any more.
    TurnedAway { reason: String },
    /// A report was taken.
    ReportSent { id: u64 },
    /// A report could not be sent; it may be later, and no sooner than the backend asked for.
    ReportDeferred { id: u64, retry_after: Option<Duration> },
    /// The backend did not let this device in with a report (401).
    ReportUnauthorized { id: u64, reason: String },
    /// A report was refused for good.
    ReportRefused { id: u64, reason: String },
    /// Bytes of a model file are on disk.
    DownloadProgressed { download: DownloadId, bytes_done: u64 },
    /// A download ended; a file that is not complete and verified is gone.
    DownloadEnded { download: DownloadId, outcome: Result<(), DownloadFailure> },
    /// A public port was reserved, or could not be. Always the first event after the effect that
    /// asked for it.
    PortReserved { pipeline_id: PipelineId, run: u64, port: Port, outcome: Result<(), String> },
    /// The engine answers and has proved to be ours.
    EngineReady { pipeline_id: PipelineId, run: u64 },
    /// An engine that serves was looked at.
    EngineLooked { pipeline_id: PipelineId, run: u64, sign: Sign },
    /// The engine could not be started, or ended by itself.
    EngineEnded { pipeline_id: PipelineId, run: u64, reason: String },
    /// The engine was stopped because we asked.
    EngineStopped { pipeline_id: PipelineId, run: u64 },
    /// The files of a model are gone.
    ModelDeleted { pipeline_id: PipelineId, outcome: Result<(), String> },
    /// A person at this machine wants something; what comes of it shows in the state.
    Wished(Wish),
    /// A person here asks for an update.
    UpdateAsked(UpdateRequest),
    /// The next version is here, or not.
    UpdateStaged(Staged),
    /// A version on trial was kept.
    UpdateSettled(UpdateOutcome),
    /// A time that [`crate::agent::Agent::deadline`] named has come.
    DeadlineReached,
}

/// What a person at this machine wants.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Wish {
    Serve(PipelineId),
    Stop(PipelineId),
    CancelDeploy(PipelineId),
    Remove(PipelineId),
}

/// Why a download gave no file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum DownloadFailure {
    Cancelled,
    /// What went wrong, for a person.
    Failed(String),
}

/// How bringing the next version here ended.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Staged {
    /// It is pointed to and waits to take over.
    Ready(Version),
    /// It is what runs.
    UpToDate(Version),
    /// There is nothing to install; says why, for a person.
    Declined(String),
    /// What went wrong, for a person.
    Failed(String),
}
