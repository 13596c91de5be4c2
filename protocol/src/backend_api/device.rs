//! Devices as their owner sees them, and the requests about one device.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    id::{AccountId, DeviceId, KeyId},
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
    /// The account that owns the device (specification, section 2.1). An older backend does not name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<AccountId>,
    pub name: String,
    pub online: bool,
    pub status: LifecycleStatus,
    #[schema(value_type = String)]
    pub agent_version: semver::Version,
    /// The outcome of the agent's last update, if the device has reported one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_update: Option<UpdateOutcome>,
    /// Tags, by which a selection finds the device.
    #[serde(default)]
    pub tags: Vec<String>,
    pub platform: Platform,
    /// The key that the device last registered with. An older backend does not name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_id: Option<KeyId>,
    #[schema(value_type = String, format = DateTime)]
    pub registered_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_seen_at: Option<Timestamp>,
    /// The last reported load of the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<SystemSample>,
}

/// `POST /devices/{device_id}/update`: the version that replaces the agent.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateDevice {
    #[schema(value_type = String, example = "1.4.0")]
    pub version: semver::Version,
}

/// `POST /devices/{device_id}/transfer`: a key of the receiving account. Exactly one of the two keys is given.
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

/// The order of a list of devices. A leading `-` reverses it. Devices that are equal are listed in the order of
/// their registration, with `-` in reverse. The order by `last_seen` changes with each report, and a page is that of a few
/// seconds ago: a device that reports between two pages can be on both or on neither.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub enum DeviceSort {
    /// The newest registration first.
    #[default]
    #[serde(rename = "-registered")]
    Newest,
    /// The oldest registration first.
    #[serde(rename = "registered")]
    Oldest,
    /// By name. Upper and lower case are treated alike; for letters outside ASCII this depends on the database.
    #[serde(rename = "name")]
    Name,
    /// By name, in reverse.
    #[serde(rename = "-name")]
    NameDescending,
    /// Devices that were never seen first, then those that have been away the longest.
    #[serde(rename = "last_seen")]
    LastSeen,
    /// The device that reported last first.
    #[serde(rename = "-last_seen")]
    LastSeenDescending,
}

impl DeviceSort {
    /// Every order.
    pub const ALL: [Self; 6] = [
        Self::Newest,
        Self::Oldest,
        Self::Name,
        Self::NameDescending,
        Self::LastSeen,
        Self::LastSeenDescending,
    ];

    /// Returns the order's name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Newest => "-registered",
            Self::Oldest => "registered",
            Self::Name => "name",
            Self::NameDescending => "-name",
            Self::LastSeen => "last_seen",
            Self::LastSeenDescending => "-last_seen",
        }
    }
}

/// The text is not the name of an order.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{0}` is not an order; orders: {list}", list = DeviceSort::ALL.map(DeviceSort::as_str).join(", "))]
pub struct UnknownSort(String);

impl std::str::FromStr for DeviceSort {
    type Err = UnknownSort;

    fn from_str(text: &str) -> Result<Self, UnknownSort> {
        let known = Self::ALL.into_iter().find(|sort| sort.as_str() == text);
        known.ok_or_else(|| UnknownSort(text.to_owned()))
    }
}

/// The filter and the page of a list of devices.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DeviceQuery {
    /// Only devices that match every term, such as `tag=lab,version<1.3.0,state=online`. Terms are `tag` (`=`, `!=`),
    /// `version` (`=`, `!=`, `<`, `<=`, `>`, `>=`), `state` (`=`, `!=`; `online`, `offline` or `updating`), `update`, the
    /// end of the last update (`=`, `!=`; `committed` or `rolled_back`), and `disk`, the used share of the disk in whole
    /// percent (as `version`; 0 to 100).
    pub select: Option<String>,
    /// Only devices whose name contains this text, whose id begins with it (with or without `dev_`), or that have it
    /// as a tag. Upper and lower case are treated alike; for letters outside ASCII this depends on the database. 1 to 200
    /// characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub q: Option<String>,
    /// The order of the list.
    #[serde(default)]
    #[param(default = "-registered")]
    pub sort: DeviceSort,
    /// Items of a page: 1 to 200.
    #[param(minimum = 1, maximum = 200, default = 50)]
    pub limit: Option<u32>,
    /// The `next_cursor` of the previous page.
    pub cursor: Option<String>,
}
