//! Devices as their owner sees them, and what can be asked of one.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    id::DeviceId,
    key::{EnrolmentKey, KeyKind},
    registration::Platform,
    report::LifecycleStatus,
    system::SystemSample,
    update::UpdateOutcome,
};

/// A device.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Device {
    pub device_id: DeviceId,
    pub name: String,
    pub online: bool,
    pub status: LifecycleStatus,
    #[schema(value_type = String)]
    pub agent_version: semver::Version,
    /// What became of the last update of the agent, if the device told of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_update: Option<UpdateOutcome>,
    /// Labels that it is selected by.
    #[serde(default)]
    pub tags: Vec<String>,
    pub platform: Platform,
    #[schema(value_type = String, format = DateTime)]
    pub registered_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_seen_at: Option<Timestamp>,
    /// How busy it was when it last told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<SystemSample>,
}

/// `POST /devices/{device_id}/update`: which version the agent is to be replaced by.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateDevice {
    #[schema(value_type = String, example = "1.4.0")]
    pub version: semver::Version,
}

/// `POST /devices/{device_id}/transfer`: a key of the account that the device goes to. Exactly one of
/// the two is given.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TransferDevice {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registration_key: Option<EnrolmentKey>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet_key: Option<EnrolmentKey>,
}

impl From<EnrolmentKey> for TransferDevice {
    fn from(key: EnrolmentKey) -> Self {
        match key.kind() {
            KeyKind::Registration => Self { registration_key: Some(key), fleet_key: None },
            KeyKind::Fleet => Self { registration_key: None, fleet_key: Some(key) },
        }
    }
}

/// `PATCH /devices/{device_id}`: tags to add and to remove, and a new name.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangeDevice {
    #[serde(default)]
    pub add_tags: Vec<String>,
    #[serde(default)]
    pub remove_tags: Vec<String>,
    /// The new name of the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Which devices.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DeviceQuery {
    /// Only those that fit, such as `tag=lab,version<1.3.0,state=online`: every term must. Terms are
    /// `tag` (`=`, `!=`), `version` (`=`, `!=`, `<`, `<=`, `>`, `>=`) and `state` (`=`, `!=`;
    /// `online`, `offline` or `updating`).
    pub select: Option<String>,
    /// Items to answer with: 1 to 200.
    #[param(minimum = 1, maximum = 200, default = 50)]
    pub limit: Option<u32>,
    /// The `next_cursor` of the page before.
    pub cursor: Option<String>,
}
