//! Devices as their owner sees them.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{id::DeviceId, registration::Platform, report::LifecycleStatus};

/// A device.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Device {
    pub device_id: DeviceId,
    pub name: String,
    pub online: bool,
    pub status: LifecycleStatus,
    #[schema(value_type = String)]
    pub agent_version: semver::Version,
    pub platform: Platform,
    #[schema(value_type = String, format = DateTime)]
    pub registered_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_seen_at: Option<Timestamp>,
}
