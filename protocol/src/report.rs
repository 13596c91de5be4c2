//! The reports of a device (specification, section 6; the payloads are this project's decisions).

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    counter::Generation,
    id::{CommandId, DeploymentId, InferenceId, ModelId, PipelineId},
    port::Port,
    update::UpdateOutcome,
};

/// The lifecycle of a device's agent.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum LifecycleStatus {
    Starting,
    /// The command channel is ready.
    Online,
    Updating,
    Stopping,
    Deregistered,
}

/// A report of the lifecycle status. It is sent with PUT, every other report with POST.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct LifecycleReport {
    pub status: LifecycleStatus,
    #[serde(deserialize_with = "crate::bounded::version")]
    #[schema(value_type = String)]
    pub agent_version: semver::Version,
    /// Seconds since the agent's process started.
    #[serde(default)]
    pub uptime_s: u64,
    /// The outcome of the last update, if any.
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
    /// A text for people: the reason of a failure, or what was done. 2,000 characters of it are kept.
    #[serde(deserialize_with = "crate::bounded::text")]
    pub output: String,
    /// The number of the delivery that was carried out.
    #[serde(default = "first")]
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
    /// Deleted from the device. The model can be deployed again.
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
    #[serde(deserialize_with = "crate::bounded::word")]
    pub allowlist_digest: String,
    /// A counter that grows with each change of the pipeline. A report with a lower number never
    /// replaces a newer one.
    #[schema(value_type = u64)]
    pub generation: Generation,
    /// Why the model is not served although it should be. 2,000 characters of it are kept.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::bounded::optional_text"
    )]
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
    /// The deployment. Without one, the report is about the unfinished deployment of the model, and a late report of an
    /// earlier one would count for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deployment_id: Option<DeploymentId>,
    pub event: ProgressEvent,
    pub bytes_done: u64,
    pub bytes_total: u64,
}

/// The source of a token count.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Provenance {
    /// The `usage` field of the engine's answer.
    Exact,
    /// The engine's timings of the same inference.
    Timings,
    /// A count of the streamed chunks, because the stream ended early.
    Counted,
    /// Unknown: only the inference itself is recorded.
    Absent,
}

/// The usage of one inference, in the unit of its plugin, attributed to the model that served it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct TelemetryReport {
    pub inference_id: InferenceId,
    pub model_id: ModelId,
    pub prompt_tokens: Option<u64>,
    pub completion_tokens: Option<u64>,
    pub provenance: Provenance,
    /// The length of the audio that the inference read, for models that count audio.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audio_ms: Option<u64>,
    /// The number of images that the inference read, for models that count images.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub images: Option<u64>,
    pub duration_ms: u64,
    pub time_to_first_token_ms: Option<u64>,
}

/// The severity of a log record, in ascending order. Debug records are sent as `info`.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
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
    #[default]
    #[serde(alias = "debug")]
    Info,
    Warning,
    Error,
    Critical,
}

impl Severity {
    /// Every severity, in ascending order.
    pub const ALL: [Self; 4] = [Self::Info, Self::Warning, Self::Error, Self::Critical];

    /// Returns the severity's name on the wire.
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
    #[serde(default)]
    pub severity: Severity,
    #[serde(default = "other")]
    pub category: String,
}

fn first() -> u32 {
    1
}

fn other() -> String {
    "other".to_owned()
}
