//! Selections of devices, and tags.

use link_protocol::{
    agent_api::PREFIX,
    backend_api::device::{ChangeDevice, Device, DeviceSort},
    id::DeviceId,
    selector::Selector,
};

use crate::{
    backend::{BackendClient, CallError, query_of},
    http::Call,
};

/// Which devices to list, and in which order.
#[derive(Clone, Debug, Default)]
pub struct WantedDevices {
    /// Only those that match every term.
    pub select: Option<Selector>,
    /// Only those with this text in their name, at the beginning of their id, or as a tag.
    pub search: Option<String>,
    /// The order of the list.
    pub sort: DeviceSort,
}

impl BackendClient {
    /// Returns the devices of the account that `wanted` names, in its order.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn listed_devices(&self, wanted: &WantedDevices) -> Result<Vec<Device>, CallError> {
        let WantedDevices { select, search, sort } = wanted;
        let select = select.as_ref().map(ToString::to_string);
        let query = query_of([("select", select), ("q", search.clone())]);
        let path = format!("{PREFIX}/devices?{query}");
        // Ordered here: devices report while the pages are read, and a list in the order of their reports would lose some.
        let mut devices = self.all(path.trim_end_matches('?')).await?;
        order(&mut devices, *sort);
        Ok(devices)
    }

    /// Adds and removes tags of a device, and renames it.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn change_device(
        &self,
        device: DeviceId,
        change: &ChangeDevice,
    ) -> Result<Device, CallError> {
        self.call(|| Call::patch(format!("{PREFIX}/devices/{device}")).json(change)).await
    }
}

/// Orders devices as the backend's lists do. An older backend has no order but the newest first.
fn order(devices: &mut [Device], sort: DeviceSort) {
    match sort {
        DeviceSort::Newest => {}
        DeviceSort::Oldest => devices.sort_by_key(|device| device.device_id),
        DeviceSort::Name | DeviceSort::NameDescending => {
            devices.sort_by_cached_key(|device| (device.name.to_lowercase(), device.device_id));
        }
        DeviceSort::LastSeen | DeviceSort::LastSeenDescending => {
            devices.sort_by_key(|device| (device.last_seen_at, device.device_id));
        }
    }
    if matches!(sort, DeviceSort::NameDescending | DeviceSort::LastSeenDescending) {
        devices.reverse();
    }
}
