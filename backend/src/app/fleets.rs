//! Fleets: groups of devices with the same tags.

use link_protocol::{
    backend_api::device::{ChangeDevice, Device},
    id::DeviceId,
    selector::Selector,
};

use crate::{
    app::{App, placing::remember},
    auth::access::Identity,
    database::{Page, write},
    domain::{
        audit::Action,
        claim::Once,
        name,
        operation::Accepted,
        ownership,
        scan::{Part, Round, Scan, WINDOW},
        tag,
    },
    failure::AppError,
    tables::{DeviceFilter, Look, audit, devices, locks},
};

impl App {
    /// Lists a page of the devices of the caller's account: those that match `selector` and `q`, or all.
    ///
    /// # Errors
    /// [`AppError::Store`].
    pub async fn devices(
        &self,
        caller: Identity,
        selector: Option<&Selector>,
        q: Option<&str>,
        page: &Page,
    ) -> Result<Part<Device>, AppError> {
        let (account, store) = (caller.account, &self.store);
        let filter = DeviceFilter {
            tag: selector.and_then(Selector::tag),
            online: selector.is_some_and(Selector::needs_online),
            q,
        };
        let end = match selector.is_some() || q.is_some() {
            true => store.devices_end(account, page.after.as_ref(), WINDOW).await?,
            false => None,
        };
        let mut scan = Scan::new(page.limit as usize - 1, page.after.clone(), end);
        loop {
            let look = Look {
                after: scan.after().as_ref(),
                until: scan.end().as_ref(),
                limit: page.limit,
            };
            let devices = store.devices(account, filter, look).await?;
            let last = devices.last().map(|(device, _)| device.id.to_string());
            let is_last = devices.len() < page.limit as usize;
            let described =
                devices.into_iter().map(|(device, sample)| self.describe(&device, sample));
            let found =
                described.filter(|device| selector.is_none_or(|selector| selector.matches(device)));
            let round = Round { found: found.collect(), last, is_last };
            if let Some(part) = scan.take(round, |device| device.device_id.to_string()) {
                return Ok(part);
            }
        }
    }

    /// Adds and removes tags of a device, and renames it.
    ///
    /// # Errors
    /// [`crate::domain::refusal::Refusal::NotFound`], [`crate::domain::refusal::Refusal::Invalid`].
    pub async fn change_device(
        &self,
        caller: Identity,
        id: DeviceId,
        change: ChangeDevice,
    ) -> Result<Device, AppError> {
        self.change_device_once(caller, id, change, Once::Never).await?;
        self.device(caller, id).await
    }

    /// Changes a device unless the same request, identified by `once`, did so before.
    ///
    /// # Errors
    /// As for [`App::change_device`], and [`Refusal::ItemTaken`].
    pub(super) async fn change_device_once(
        &self,
        caller: Identity,
        id: DeviceId,
        ChangeDevice { add_tags, remove_tags, name }: ChangeDevice,
        once: Once<'_>,
    ) -> Result<(), AppError> {
        ownership::own_device(self.store.device(id).await?, caller.account)?;
        let name = name.map(|name| name::checked("name", &name)).transpose()?;
        let what: Vec<String> = add_tags
            .iter()
            .map(|tag| format!("+{tag}"))
            .chain(remove_tags.iter().map(|tag| format!("-{tag}")))
            .collect();
        let tagged = self.entry(&caller, Action::TagDevice, id).with(&what.join(" "));
        let renamed = self.entry(&caller, Action::RenameDevice, id);
        let now = self.now();
        write!(self.store, [locks::device(id)], |db| {
            let found = devices::find(db, id).await?;
            let mut device = ownership::own_device(found, caller.account)?;
            device.tags = tag::change(&device.tags, &add_tags, &remove_tags)?;
            if let Some(name) = &name {
                let entry = renamed.clone().with(&format!("{} to {name}", device.name));
                audit::insert(db, &entry).await?;
                device.name.clone_from(name);
            }
            devices::update(db, &device).await?;
            if !what.is_empty() {
                audit::insert(db, &tagged).await?;
            }
            remember(db, once, Accepted::Done, now).await?;
        });
        Ok(())
    }
}
