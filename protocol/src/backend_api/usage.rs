//! Token usage, added up by time.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::id::{DeviceId, ModelId};

/// How long the time is that usage is added up over. Both begin in UTC.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum UsageBucket {
    #[default]
    Hour,
    Day,
}

/// What one model did on one device in one hour or day, by the backend's clock.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Usage {
    pub device_id: DeviceId,
    pub model_id: ModelId,
    /// The beginning of the hour or day.
    #[schema(value_type = String, format = DateTime)]
    pub begin: Timestamp,
    pub bucket: UsageBucket,
    pub inferences: u64,
    /// Inferences of which the tokens are not known.
    pub uncounted: u64,
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
    /// How long the inferences took together.
    pub duration_ms: u64,
}
