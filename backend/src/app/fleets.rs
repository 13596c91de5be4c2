//! Fleets: devices by their tags.

use link_protocol::{
    backend_api::device::{ChangeDevice, Device},
    id::DeviceId,
    limits,
    selector::Selector,
};

use crate::{
    app::App,
    auth::access::Identity,
    database::{Page, write},
    domain::{audit::Action, ownership, tag},
    failure::Failure,
    tables::{audit, devices, locks},
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
    /// [`crate::domain::refusal::Refusal::NotFound`], [`crate::domain::refusal::Refusal::Invalid`].
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
        write!(self.store, [locks::device(id)], |db| {
            let found = devices::find(db, id).await?;
            let mut device = ownership::own_device(found, caller.account)?;
            device.tags = tag::change(&device.tags, &add_tags, &remove_tags)?;
            devices::update(db, &device).await?;
            audit::insert(db, &entry).await?;
        });
        self.device(caller, id).await
    }
}
