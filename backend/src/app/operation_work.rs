//! Processes operations in turns of bounded size. A turn sends requests to pending devices, reads the outcomes of sent
//! items, and ends finished operations.
//!
//! All state is in the database: after a crash a worker continues at its next start, and several workers share the
//! work. An item changes in the transaction that accepts the command of its device.

use futures_util::{FutureExt as _, StreamExt as _, future::BoxFuture, stream};
use jiff::Timestamp;
use link_protocol::backend_api::{
    deployment::CreateDeployment,
    device::ChangeDevice,
    operation::{ItemState, Work},
};

use crate::{
    app::{App, Requested},
    auth::access::{Identity, Means},
    database::{read, write},
    domain::{
        claim::Once,
        operation::{
            Event, Item, OperationRecord, request,
            verdict::{self, Evidence},
        },
        refusal::Refusal,
        token::Scopes,
    },
    failure::AppError,
    host::random,
    tables::{locks, members, operations},
};

/// The maximum number of devices that are processed concurrently.
const AT_ONCE: usize = 8;
/// The number of sent items that one turn checks.
const LOOKED_AT: u32 = 500;
/// A worker reads this many times more items than it sends, and sends a random range of them, so that concurrent
/// workers on one database rarely pick the same items.
const SPREAD: u32 = 4;

/// The position of a worker. A new worker starts at the beginning.
#[derive(Clone, Debug, Default)]
pub struct Worker {
    /// The operation of the last turn. The next turn is for the operation after it.
    told: String,
    /// The last sent item that was checked.
    seen: (String, String),
}

/// The result of a turn.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Turn {
    /// Items whose request was to be sent.
    pub tried: u32,
    /// Sent items that were checked.
    pub looked_at: u32,
    /// Whether there are further sent items for the next turn.
    pub has_more: bool,
    /// Items that were sent or that ended.
    pub changed: u32,
}

impl App {
    /// Runs one turn, in which at most `most` devices get requests.
    ///
    /// # Errors
    /// [`AppError::Store`]. A later turn does the remaining work.
    pub async fn work_off(&self, worker: &mut Worker, most: u32) -> Result<Turn, AppError> {
        let (tried, told) = self.tell(worker, most).await?;
        let (looked_at, settled) = self.settle(worker).await?;
        for (operation, account) in self.store.finished_operations().await? {
            let now = self.now();
            write!(self.store, [locks::account(account)], |db| {
                operations::end_finished(db, operation, now).await?;
            });
        }
        let has_more = looked_at == LOOKED_AT;
        Ok(Turn { tried, looked_at, has_more, changed: told + settled })
    }

    async fn tell(&self, worker: &mut Worker, most: u32) -> Result<(u32, u32), AppError> {
        let items = self.due_items(worker, most).await?;
        let Some(first) = items.first() else {
            return Ok((0, 0));
        };
        let tried = u32::try_from(items.len()).unwrap_or(u32::MAX);
        let Some(operation) = self.store.operation(first.operation).await? else {
            // The operation was deleted meanwhile.
            return Ok((tried, 0));
        };
        let caller = self.operation_caller(&operation).await?;
        let mut asking: Vec<BoxFuture<'_, Result<bool, AppError>>> =
            Vec::with_capacity(items.len());
        for item in &items {
            asking.push(self.tell_device(&operation, caller, item).boxed());
        }
        let told: Vec<_> = stream::iter(asking).buffer_unordered(AT_ONCE).collect().await;
        let mut changed = 0;
        for told in told {
            changed += u32::from(told?);
        }
        Ok((tried, changed))
    }

    /// Finds due items of one operation: the operation after that of the previous turn.
    async fn due_items(&self, worker: &mut Worker, most: u32) -> Result<Vec<Item>, AppError> {
        if most == 0 {
            return Ok(Vec::new());
        }
        let (now, wanted) = (self.now(), most.saturating_mul(SPREAD));
        let mut items = self.pending_items(&worker.told, now, wanted).await?;
        if items.is_empty() && !worker.told.is_empty() {
            items = self.pending_items("", now, wanted).await?;
        }
        let Some(first) = items.first().map(|item| item.operation) else {
            worker.told.clear();
            return Ok(items);
        };
        worker.told = first.to_string();
        items.retain(|item| item.operation == first);
        let most = most as usize;
        let spare = items.len().saturating_sub(most);
        let [high, low, ..] = random::bits();
        let skipped = usize::from(u16::from_be_bytes([high, low])) % (spare + 1);
        Ok(items.into_iter().skip(skipped).take(most).collect())
    }

    async fn pending_items(
        &self,
        after: &str,
        now: Timestamp,
        most: u32,
    ) -> Result<Vec<Item>, AppError> {
        Ok(read!(self.store, |db| operations::pending_items(db, after, now, most).await?))
    }

    /// Returns the caller of an operation's requests: who started it, with the current role in the account. `None` if that is a member who
    /// has left, or a token that was revoked or has expired.
    async fn operation_caller(
        &self,
        operation: &OperationRecord,
    ) -> Result<Option<Identity>, AppError> {
        let requester = operation.requester;
        let member =
            read!(self.store, |db| members::find(db, operation.account, requester.user).await?);
        if let Some(token) = requester.token
            && self.store.role_of_token(token, self.now()).await?.is_none()
        {
            return Ok(None);
        }
        Ok(member.map(|member| Identity {
            user: requester.user,
            account: operation.account,
            role: member.role,
            // The scopes of a token never change, and the operation was accepted within them.
            scopes: Scopes::ALL,
            means: requester.token.map_or(Means::Operation(operation.id), Means::Token),
            peer: requester.peer,
        }))
    }

    /// Sends the request for one device. Returns whether the item changed.
    async fn tell_device(
        &self,
        operation: &OperationRecord,
        caller: Option<Identity>,
        item: &Item,
    ) -> Result<bool, AppError> {
        let permission = request::permission(&operation.work);
        let asked = match caller.filter(|caller| caller.check(permission).is_ok()) {
            Some(caller) => self.ask(operation, caller, item).await,
            None => Err(Refusal::Forbidden(
                "the member or API token that started the operation may no longer do this; retry \
                 the operation with a login that may"
                    .to_owned(),
            )
            .into()),
        };
        let refusal = match asked {
            Ok(()) => return Ok(true),
            Err(AppError::Refused(Refusal::ItemTaken)) => return Ok(false),
            Err(AppError::Refused(refusal)) => refusal,
            Err(failure) => return Err(failure),
        };
        let event = Event::Refused { work: &operation.work, refusal: &refusal };
        let Some(next) = item.handle(event, self.now()) else {
            return Ok(false);
        };
        let changed =
            write!(self.store, [], |db| { operations::change_item(db, item.state, &next).await? });
        Ok(changed)
    }

    /// Does for one device what a single request for it would do.
    async fn ask(
        &self,
        operation: &OperationRecord,
        caller: Identity,
        item: &Item,
    ) -> Result<(), AppError> {
        let (device, once) = (item.device, Once::Item(item));
        let on = |model| Requested { caller, model, device };
        match operation.work.clone() {
            Work::Deploy { model_id, port, alias, serve, proxy, settings } => {
                let device_id = device;
                let wish =
                    CreateDeployment { model_id, device_id, port, alias, serve, proxy, settings };
                self.deploy_once(caller, wish, once).await?;
            }
            Work::Repair { model_id, port } => {
                self.repair_once(on(model_id), port, once).await?;
            }
            Work::Serve { model_id, port } => {
                self.serve(on(model_id), port, once).await?;
            }
            Work::Stop { model_id } => {
                self.stop(on(model_id), once).await?;
            }
            Work::Remove { model_id } => {
                self.uninstall(on(model_id), once).await?;
            }
            Work::Update { version } => {
                self.update_once(caller, device, version, once).await?;
            }
            Work::Tag { tags } => {
                let change = ChangeDevice { add_tags: tags, ..ChangeDevice::default() };
                self.change_device_once(caller, device, change, once).await?;
            }
            Work::Untag { tags } => {
                let change = ChangeDevice { remove_tags: tags, ..ChangeDevice::default() };
                self.change_device_once(caller, device, change, once).await?;
            }
            Work::Rename { .. } => {
                let change =
                    ChangeDevice { name: item.new_name.clone(), ..ChangeDevice::default() };
                self.change_device_once(caller, device, change, once).await?;
            }
        }
        Ok(())
    }

    /// Reads the outcomes of some sent items.
    async fn settle(&self, worker: &mut Worker) -> Result<(u32, u32), AppError> {
        let now = self.now();
        let silent = verdict::silent_before(now);
        let seen = (worker.seen.0.as_str(), worker.seen.1.as_str());
        let sent =
            read!(self.store, |db| operations::sent_items(db, seen, silent, LOOKED_AT).await?);
        worker.seen = match sent.last() {
            Some(last) if sent.len() == LOOKED_AT as usize => {
                (last.operation.to_string(), last.device.to_string())
            }
            Some(_) | None => <(String, String)>::default(),
        };
        let mut told = Vec::new();
        for one in sent.iter().filter(|one| one.may_be_told) {
            if let Some(item) = self.store.operation_item(one.operation, one.device).await?
                && let Some(next) = self.judged(&item, now).await?
            {
                told.push(next);
            }
        }
        if told.is_empty() {
            return Ok((u32::try_from(sent.len()).unwrap_or(u32::MAX), 0));
        }
        let settled = write!(self.store, [], |db| {
            let mut settled = 0;
            for next in &told {
                settled += u32::from(operations::change_item(db, ItemState::Sent, next).await?);
            }
            settled
        });
        Ok((u32::try_from(sent.len()).unwrap_or(u32::MAX), settled))
    }

    /// Returns the item with the outcome of its command or deployment, or `None` while that is unknown.
    async fn judged(&self, item: &Item, now: Timestamp) -> Result<Option<Item>, AppError> {
        let Some(operation) = self.store.operation(item.operation).await? else {
            return Ok(None);
        };
        let work = &operation.work;
        let verdict = if let Some(id) = item.deployment {
            let view = self.store.deployment(operation.account, id).await?;
            let found = view.as_ref().map(|view| (&view.record, view.serving.as_ref()));
            verdict::of(item, work, Evidence::Deployment(found), now)
        } else {
            let command = match item.command {
                Some(id) => self.store.command(id).await?,
                None => None,
            };
            verdict::of(item, work, Evidence::Command(command.as_ref()), now)
        };
        Ok(verdict.and_then(|verdict| item.handle(Event::Told(verdict), now)))
    }
}
