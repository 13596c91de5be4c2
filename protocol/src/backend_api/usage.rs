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

/// The filter and the page of a list of usage, or of usage in groups.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct UsageQuery {
    /// Only usage on this device.
    #[param(value_type = Option<DeviceId>)]
    pub device_id: Option<String>,
    /// Only usage of this model.
    #[param(value_type = Option<ModelId>)]
    pub model_id: Option<String>,
    /// From the hour or day that contains this time.
    #[param(value_type = Option<String>, format = DateTime)]
    pub from: Option<String>,
    /// Up to the hour or day that contains this time or ends at this time.
    #[param(value_type = Option<String>, format = DateTime)]
    pub to: Option<String>,
    /// The length of a span. Hours are kept for 35 days and days for 800, unless configured otherwise.
    #[serde(default)]
    #[param(default = "hour")]
    pub bucket: UsageBucket,
    /// Sums usage in groups: the answer is `UsageGroups`, with every hour or day of the period, at most 400. Without
    /// `from`, the period has the last 24 hours or 30 days. Pages are for lists only.
    pub group_by: Option<UsageGroupBy>,
    /// Items of a page: 1 to 200.
    #[param(minimum = 1, maximum = 200, default = 50)]
    pub limit: Option<u32>,
    /// The `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// The usage of one model on one device in one hour or day, by the backend's clock.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Usage {
    pub device_id: DeviceId,
    /// The name of the device, if it still belongs to the account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_name: Option<String>,
    pub model_id: ModelId,
    /// The name of the model, if it still exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_name: Option<String>,
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

impl UsageBucket {
    /// Returns the name in a query.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hour => "hour",
            Self::Day => "day",
        }
    }
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

impl UsageGroupBy {
    /// Returns the name in a query.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Device => "device",
            Self::Tag => "tag",
            Self::None => "none",
        }
    }
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
