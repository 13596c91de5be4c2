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
