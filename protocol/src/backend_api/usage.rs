//! The usage of models, summed per hour or day.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::id::{DeviceId, ModelId};

/// The span over which usage is summed: an hour or a day in UTC.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum UsageBucket {
    #[default]
    Hour,
    Day,
}

/// The usage of one model on one device in one hour or day, by the backend's clock.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Usage {
    pub device_id: DeviceId,
    pub model_id: ModelId,
    /// The beginning of the hour or day.
    #[schema(value_type = String, format = DateTime)]
    pub begin: Timestamp,
    pub bucket: UsageBucket,
    pub inferences: u64,
    /// Inferences whose tokens, audio or images are unknown.
    pub uncounted: u64,
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
    /// The total length of the audio that models for audio have read.
    #[serde(default)]
    pub audio_ms: u64,
    /// The number of images that models for images have read.
    #[serde(default)]
    pub images: u64,
    /// The total duration of the inferences.
    pub duration_ms: u64,
}

/// What the usage of one group has in common.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum UsageGroupBy {
    Model,
    Device,
    /// The tags that devices have now. A device with several tags counts in each of their groups.
    Tag,
    /// One group with all usage.
    None,
}

/// Usage in groups. Every group has every hour or day of the period, also those without usage.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, utoipa::ToSchema)]
pub struct UsageGroups {
    pub group_by: UsageGroupBy,
    pub bucket: UsageBucket,
    /// The beginning of the first hour or day.
    #[schema(value_type = String, format = DateTime)]
    pub from: Timestamp,
    /// The end of the last hour or day.
    #[schema(value_type = String, format = DateTime)]
    pub to: Timestamp,
    /// The upper bounds of the classes of time to first token, in milliseconds. A last class has no upper bound.
    pub first_token_bounds_ms: Vec<u64>,
    /// The upper bounds of the classes of tokens per second. A last class has no upper bound.
    pub token_rate_bounds: Vec<u64>,
    /// The groups with the most inferences, at most 20.
    pub groups: Vec<UsageGroup>,
    /// All further groups together, except with `group_by=none`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<UsageGroup>,
}

/// The usage of one group.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, utoipa::ToSchema)]
pub struct UsageGroup {
    /// The id of the model or device, or the tag. Null for all usage, for further groups, and for devices that have no
    /// tag or do not exist any more.
    pub key: Option<String>,
    /// The name of the model or device, if it still exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub total: UsageFigures,
    /// One item for each hour or day of the period, oldest first.
    pub buckets: Vec<UsageStep>,
}

/// The usage of one group in one hour or day.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, utoipa::ToSchema)]
pub struct UsageStep {
    #[schema(value_type = String, format = DateTime)]
    pub begin: Timestamp,
    #[serde(flatten)]
    pub figures: UsageFigures,
}

/// Sums over inferences. Units are apart: tokens, milliseconds of audio, and images.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, utoipa::ToSchema)]
pub struct UsageFigures {
    pub inferences: u64,
    /// Inferences whose tokens, audio or images are known.
    pub counted: u64,
    /// Inferences whose tokens, audio or images are unknown.
    pub uncounted: u64,
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
    pub audio_ms: u64,
    pub images: u64,
    pub duration_ms: u64,
    /// The time to the first token, in milliseconds.
    pub first_token_ms: Distribution,
    /// Tokens per second after the first token.
    pub token_rate: Distribution,
}

/// A histogram. Histograms are added up class by class.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Distribution {
    /// The number of inferences in each class. An inference that did not report the value is in none.
    pub counts: Vec<u64>,
    /// The estimated median: linear inside a class, and the lower bound of the last class.
    pub p50: Option<f64>,
    /// The estimated value that 95 % of the inferences do not exceed.
    pub p95: Option<f64>,
}
