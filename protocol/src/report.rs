//! What a device reports (specification, section 6; payloads as decided for this project).

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    id::{CommandId, DeploymentId, InferenceId, ModelId, PipelineId},
    port::Port,
    update::UpdateOutcome,
};

/// Lifecycle of a device's agent.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum LifecycleStatus {
    Starting,
    /// The command channel is fully ready.
    Online,
    Updating,
    Stopping,
    Deregistered,
}

/// Lifecycle status; sent by PUT, everything else by POST.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct LifecycleReport {
    pub status: LifecycleStatus,
    #[schema(value_type = String)]
    pub agent_version: semver::Version,
    /// Seconds since the agent's process started.
    pub uptime_s: u64,
    /// What became of the last update, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update: Option<UpdateOutcome>,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CommandResult {
    Succeeded,
    Failed,
    Rejected,
    Cancelled,
}

impl fmt::Display for CommandResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Rejected => "rejected",
            Self::Cancelled => "cancelled",
        })
    }
}

/// The result of one command.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct CommandReport {
    pub command_id: CommandId,
    pub status: CommandResult,
    /// What a person should know: a reason, or what was done.
    pub output: String,
    /// The delivery that was carried out.
    pub attempt: u32,
}

/// State of a model on a device.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModelState {
    NotServing,
    Starting,
    Serving,
    Stopping,
    /// Deleted from the device; it stays available to deploy again.
    Removed,
}

/// State of one model's pipeline on a device.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct ModelReport {
    pub model_id: ModelId,
    pub pipeline_id: PipelineId,
    pub state: ModelState,
    pub is_serving: bool,
    pub port: Port,
    pub allowlist_digest: String,
    /// Grows whenever the pipeline changes; an older report never replaces a newer one.
    pub generation: u64,
    /// Why the model does not serve, when it should.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// Steps of a deployment that are reported as they happen.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProgressEvent {
    Downloading,
    Configuring,
    Completed,
}

/// Progress of a deployment, in steps of 5 %.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct ProgressReport {
    pub deployment_id: DeploymentId,
    pub event: ProgressEvent,
    pub bytes_done: u64,
    pub bytes_total: u64,
}

/// How a token count is known.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Provenance {
    /// The engine's own `usage`.
    Exact,
    /// The engine's own timings of the same inference.
    Timings,
    /// Streamed pieces that were counted, because the stream ended early.
    Counted,
    /// Nothing is known but that the inference took place.
    Absent,
}

/// Token usage of one inference, attributed to the model that served it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct TelemetryReport {
    pub inference_id: InferenceId,
    pub model_id: ModelId,
    pub prompt_tokens: Option<u64>,
    pub completion_tokens: Option<u64>,
    pub provenance: Provenance,
    pub duration_ms: u64,
    pub time_to_first_token_ms: Option<u64>,
}

/// Severity of a log record: lower case; debug is sent as `info`. The order is that of severity.
#[derive(
    Clone,
    Copy,
    Debug,
    Deserialize,
    Eq,
    Hash,
    Ord,
    PartialEq,
    PartialOrd,
    Serialize,
    utoipa::ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Info,
    Warning,
    Error,
    Critical,
}

impl Severity {
    /// Every severity, the mildest first.
    pub const ALL: [Self; 4] = [Self::Info, Self::Warning, Self::Error, Self::Critical];

    /// Returns the text of the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
        }
    }
}

/// A log record (specification, section 2.4).
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct LogRecord {
    pub message: String,
    pub severity: Severity,
    #[serde(default = "other")]
    pub category: String,
}

fn other() -> String {
    "other".to_owned()
}
