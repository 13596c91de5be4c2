//! Selections of devices, and tags.

use link_protocol::{
    agent_api::PREFIX,
    backend_api::device::{ChangeDevice, Device},
    id::DeviceId,
    selector::Selector,
};

use crate::{
    backend::{BackendClient, CallError, query_value},
    http::Call,
};

impl BackendClient {
    /// Returns every device of the account that matches `selector`.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn selected_devices(&self, selector: &Selector) -> Result<Vec<Device>, CallError> {
        let select = query_value(&selector.to_string());
        self.all(&format!("{PREFIX}/devices?select={select}")).await
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
