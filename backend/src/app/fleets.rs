//! Fleets: devices by their tags.

use link_protocol::{
    backend_api::device::{ChangeDevice, Device},
    id::DeviceId,
    limits,
    selector::Selector,
};

use crate::{
    access::Identity,
    app::App,
    database::{Page, StoreError},
    domain::{audit::Action, device::DeviceRecord, ownership, refusal::Refusal, tag},
    failure::Failure,
};

impl App {
    /// Lists the devices of the caller's account that `selector` means.
    ///
    /// # Errors
    /// [`Failure::Store`].
    pub async fn selected_devices(
        &self,
        caller: Identity,
        selector: &Selector,
        page: &Page,
    ) -> Result<Vec<Device>, Failure> {
        let most = page.limit as usize;
        let mut part = Page { after: page.after.clone(), limit: limits::PAGE_SIZE_LIMIT };
        let mut found = Vec::new();
        loop {
            let devices = self.devices(caller, &part).await?;
            let is_last = devices.len() < part.limit as usize;
            part.after = devices.last().map(|device| device.device_id.to_string());
            found.extend(devices.into_iter().filter(|device| selector.matches(device)));
            if is_last || found.len() >= most {
                found.truncate(most);
                return Ok(found);
            }
        }
    }

    /// Adds and removes tags of a device.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::Invalid`].
    pub async fn change_device(
        &self,
        caller: Identity,
        id: DeviceId,
        ChangeDevice { add_tags, remove_tags }: ChangeDevice,
    ) -> Result<Device, Failure> {
        ownership::own_device(self.store.device(id).await?, caller.account)?;
        let what: Vec<String> = add_tags
            .iter()
            .map(|tag| format!("+{tag}"))
            .chain(remove_tags.iter().map(|tag| format!("-{tag}")))
            .collect();
        let entry = self.entry(&caller, Action::TagDevice, id).with(&what.join(" "));
        let decide = |device: &mut DeviceRecord| {
            if device.account != caller.account {
                return Err(Refusal::NotFound("device"));
            }
            device.tags = tag::change(&device.tags, &add_tags, &remove_tags)?;
            Ok(())
        };
        match self.store.change_device_with(id, &entry, decide).await {
            Err(Failure::Store(StoreError::NotFound)) => {
                return Err(Refusal::NotFound("device").into());
            }
            other => other?,
        }
        self.device(caller, id).await
    }
}
