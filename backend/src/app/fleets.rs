//! Fleets: groups of devices with the same tags.

use link_protocol::{
    backend_api::device::{ChangeDevice, Device, DeviceSort},
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
        device_order::Place,
        name,
        operation::Accepted,
        ownership,
        scan::{Part, Round, Scan, WINDOW},
        tag,
    },
    failure::AppError,
    tables::{DeviceFilter, Look, audit, devices, locks},
};

/// How many devices a selection in another order than that of the ids looks at in one request: more than a page, because the
/// statement has read the whole account for them.
const CANDIDATES: u32 = 400;

/// Which devices of an account are listed, and in which order.
#[derive(Debug, Default)]
pub struct DeviceList {
    pub selector: Option<Selector>,
    /// A part of the name, the beginning of the id, or a tag.
    pub q: Option<String>,
    pub sort: DeviceSort,
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
        let (account, store) = (caller.account, &self.store);
        let DeviceList { selector, q, sort } = asked;
        let (selector, q) = (selector.as_ref(), q.as_deref());
        page.after.as_deref().map(|cursor| Place::check(cursor, *sort)).transpose()?;
        let filter = DeviceFilter {
            tag: selector.and_then(Selector::tag),
            online: selector.is_some_and(Selector::needs_online),
            q,
        };
        let size = page.limit as usize - 1;
        let by_id = *sort == DeviceSort::Newest;
        let end = match by_id && (selector.is_some() || q.is_some()) {
            true => store.devices_end(account, page.after.as_ref(), WINDOW).await?,
            false => None,
        };
        let mut scan = match by_id {
            true => Scan::new(size, page.after.clone(), end),
            false => Scan::of_one_round(size, page.after.clone()),
        };
        let limit = match !by_id && selector.is_some() {
            true => page.limit.max(CANDIDATES),
            false => page.limit,
        };
        loop {
            let devices = if by_id {
                let (after, until) = (scan.after().as_ref(), scan.end().as_ref());
                store.devices(account, filter, Look { after, until, limit }).await?
            } else {
                let after = scan.after().as_deref();
                let after = after.map(|cursor| Place::read(cursor, *sort)).transpose()?;
                store.sorted_devices(account, filter, *sort, after.as_ref(), limit).await?
            };
            let last = devices.last().map(|(device, _)| Place::cursor(device, *sort));
            let is_last = devices.len() < limit as usize;
            let placed = devices.into_iter().map(|(device, sample)| {
                (Place::cursor(&device, *sort), self.describe(&device, sample))
            });
            let found = placed
                .filter(|(_, device)| selector.is_none_or(|selector| selector.matches(device)));
            let round = Round { found: found.collect(), last, is_last };
            if let Some(part) = scan.take(round, |(cursor, _)| cursor.clone()) {
                let items = part.items.into_iter().map(|(_, device)| device).collect();
                return Ok(Part { items, next: part.next });
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
