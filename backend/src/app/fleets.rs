//! Fleets: groups of devices with the same tags.

use link_protocol::{
    backend_api::device::{ChangeDevice, Device, DeviceSort},
    id::DeviceId,
    selector::Selector,
    system::SystemSample,
};

use crate::{
    app::{App, placing::remember},
    auth::access::Identity,
    database::{Page, write},
    domain::{
        audit::Action,
        claim::Once,
        device::DeviceRecord,
        list_order::{self, Order as _, Place},
        name,
        operation::Accepted,
        ownership,
        scan::{Part, Round, Scan, WINDOW},
        tag,
    },
    failure::AppError,
    tables::{DeviceFilter, Look, audit, devices, locks},
};

/// The number of devices that one request of a selection checks when the order is not by id. More than a page, because the
/// statement reads the whole account anyway.
const CANDIDATES: u32 = 400;

/// Which devices of an account are listed, and in which order.
#[derive(Debug, Default)]
pub struct DeviceList {
    pub selector: Option<Selector>,
    /// A part of the name, the beginning of the id, or a tag.
    pub q: Option<String>,
    pub sort: DeviceSort,
}

impl DeviceList {
    fn filter(&self) -> DeviceFilter<'_> {
        let selector = self.selector.as_ref();
        DeviceFilter {
            tag: selector.and_then(Selector::tag),
            online: selector.is_some_and(Selector::needs_online),
            q: self.q.as_deref(),
        }
    }
}

impl App {
    /// Lists a page of the devices of the caller's account that are `asked` for.
    ///
    /// # Errors
    /// [`crate::domain::refusal::Refusal::Invalid`] if the page begins in a list with another order.
    pub async fn devices(
        &self,
        caller: Identity,
        asked: &DeviceList,
        page: &Page,
    ) -> Result<Part<Device>, AppError> {
        if asked.sort.is_newest() {
            self.newest_devices(caller, asked, page).await
        } else {
            self.sorted_devices(caller, asked, page).await
        }
    }

    /// Lists a page of devices, newest first, from the index. A filter reads a window.
    async fn newest_devices(
        &self,
        caller: Identity,
        asked: &DeviceList,
        page: &Page,
    ) -> Result<Part<Device>, AppError> {
        let (account, store) = (caller.account, &self.store);
        let DeviceList { selector, q, sort } = asked;
        page.after.as_deref().map(|cursor| Place::read(cursor, *sort)).transpose()?;
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
            let devices = store.devices(account, asked.filter(), look).await?;
            let round = self.round(devices, asked, page.limit);
            if let Some(part) = scan.take(round, |(cursor, _)| cursor.clone()) {
                return Ok(part.map(|(_, device)| device));
            }
        }
    }

    /// Lists a page of devices in another order, in one round.
    async fn sorted_devices(
        &self,
        caller: Identity,
        asked: &DeviceList,
        page: &Page,
    ) -> Result<Part<Device>, AppError> {
        let sort = asked.sort;
        let after = page.after.as_deref().map(|cursor| Place::read(cursor, sort)).transpose()?;
        let limit = match asked.selector.is_some() {
            true => page.limit.max(CANDIDATES),
            false => page.limit,
        };
        let devices =
            self.store.sorted_devices(caller.account, asked.filter(), sort, after.as_ref(), limit);
        let round = self.round(devices.await?, asked, limit);
        let part = round.alone(page.limit as usize - 1, |(cursor, _)| cursor.clone());
        Ok(part.map(|(_, device)| device))
    }

    /// Describes the devices of a round that match the selection, each with its cursor.
    fn round(
        &self,
        devices: Vec<(DeviceRecord, Option<SystemSample>)>,
        asked: &DeviceList,
        limit: u32,
    ) -> Round<(String, Device)> {
        let DeviceList { selector, sort, .. } = asked;
        let last = devices.last().map(|(device, _)| list_order::cursor(device, *sort));
        let is_last = devices.len() < limit as usize;
        let placed = devices.into_iter().map(|(device, sample)| {
            (list_order::cursor(&device, *sort), self.describe(&device, sample))
        });
        let is_selected = |(_, device): &(String, Device)| {
            selector.as_ref().is_none_or(|selector| selector.matches(device))
        };
        Round { found: placed.filter(is_selected).collect(), last, is_last }
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
