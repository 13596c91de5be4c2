//! Operations: accepts, lists, cancels and retries them. `operation_work.rs` processes them.

use link_protocol::{
    backend_api::{
        device::Device,
        operation::{
            CreateOperation, ItemState, Operation, OperationDevice, OperationPlan, PlannedDevice,
        },
    },
    id::OperationId,
    limits,
};

use crate::{
    app::{
        App,
        placing::{made_before, remember_id},
    },
    auth::access::{Identity, Means},
    database::{Connection, Page, write},
    domain::{
        audit::{Action, AuditRecord},
        claim::{Claim, Once},
        operation::{
            Item, OperationRecord, Requester,
            request::{self, Chosen},
        },
        quota::{check_sending, check_unended},
        refusal::Refusal,
    },
    failure::AppError,
    host::random,
    tables::{
        DeviceFilter, Look, audit, locks,
        operations::{self, OperationNumbers},
    },
};

/// The number of devices that a plan lists.
const PLANNED: usize = 200;

/// The result of a request for an operation.
#[derive(Clone, Debug)]
pub enum Requested {
    /// The request was a dry run.
    Plan(Box<OperationPlan>),
    Accepted(Box<Operation>),
}

impl App {
    /// Accepts an operation. Its devices are selected now, once.
    ///
    /// # Errors
    /// A missing permission, [`Refusal::NotFound`] for a model, [`Refusal::NothingSelected`], [`Refusal::Invalid`],
    /// [`Refusal::QuotaReached`], [`Refusal::IdempotencyConflict`].
    pub async fn create_operation(
        &self,
        caller: Identity,
        wish: CreateOperation,
        idempotency_key: Option<String>,
    ) -> Result<Requested, AppError> {
        caller.check(request::permission(&wish.work))?;
        request::check(&wish.work)?;
        let chosen = Chosen::of(&wish)?;
        if let Some(model) = wish.work.model() {
            self.model(caller, model).await?;
        }
        let devices = chosen.among(self.every_device(caller).await?)?;
        let names = request::new_names(&wish.work, &devices)?;
        if wish.dry_run {
            return Ok(Requested::Plan(Box::new(plan(wish, &devices, names))));
        }
        let claim = idempotency_key
            .map(|key| Claim::new(caller.account, key, &format!("operation {}", content(&wish))));
        let (id, now) = (OperationId::from_uuid(random::uuid()), self.now());
        let record = OperationRecord {
            id,
            account: caller.account,
            work: wish.work,
            select: wish.select,
            requester: requester(&caller),
            created_at: now,
            ended_at: None,
        };
        let items: Vec<Item> = devices
            .into_iter()
            .zip(names)
            .map(|(device, name)| Item::new(id, device.device_id, device.name, name, now))
            .collect();
        let what = format!("{} on {} devices", record.work.kind(), items.len());
        let entry = self.entry(&caller, Action::CreateOperation, id).with(&what);
        let accepted = self.store_operation(&record, &items, claim.as_ref(), &entry).await?;
        self.operations.notify_one();
        Ok(Requested::Accepted(Box::new(self.describe_operation(accepted).await?)))
    }

    async fn store_operation(
        &self,
        record: &OperationRecord,
        items: &[Item],
        claim: Option<&Claim>,
        entry: &AuditRecord,
    ) -> Result<OperationRecord, AppError> {
        let accepted = write!(self.store, [locks::account(record.account)], |db| {
            if let Some(made) = made_before(db, Once::of(claim)).await? {
                let found = operations::find_made(db, &made).await?;
                found.ok_or(Refusal::NotFound("operation"))?
            } else {
                make_room(db, record).await?;
                operations::insert(db, record).await?;
                operations::insert_items(db, items).await?;
                audit::insert(db, entry).await?;
                remember_id(db, claim, &record.id.to_string(), record.created_at).await?;
                record.clone()
            }
        });
        Ok(accepted)
    }

    /// Lists the operations of the caller's account, newest first.
    ///
    /// # Errors
    /// [`AppError::Store`].
    pub async fn operations(
        &self,
        caller: Identity,
        page: &Page,
    ) -> Result<Vec<Operation>, AppError> {
        let operations = self.store.operations(caller.account, page).await?;
        Ok(operations.into_iter().map(|(record, counts)| record.info(counts)).collect())
    }

    /// Returns an operation.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn operation(
        &self,
        caller: Identity,
        id: OperationId,
    ) -> Result<Operation, AppError> {
        let record = own(self.store.operation(id).await?, caller)?;
        self.describe_operation(record).await
    }

    /// Lists the items of an operation.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn operation_devices(
        &self,
        caller: Identity,
        id: OperationId,
        state: Option<ItemState>,
        page: &Page,
    ) -> Result<Vec<OperationDevice>, AppError> {
        own(self.store.operation(id).await?, caller)?;
        let items = self.store.operation_items(id, state, page).await?;
        Ok(items.into_iter().map(Item::info).collect())
    }

    /// Cancels an operation: no further requests are sent. Requests that were sent already continue.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::OperationFinal`], or a missing permission.
    pub async fn cancel_operation(
        &self,
        caller: Identity,
        id: OperationId,
    ) -> Result<Operation, AppError> {
        own(self.store.operation(id).await?, caller)?;
        let (entry, now) = (self.entry(&caller, Action::CancelOperation, id), self.now());
        let record = write!(self.store, [locks::account(caller.account)], |db| {
            let record = own(operations::find(db, id).await?, caller)?;
            caller.check(request::permission(&record.work))?;
            let counts = operations::counts(db, id).await?;
            if counts.open() == 0 {
                return Err(Refusal::OperationFinal("has ended").into());
            }
            operations::cancel_items(db, id, now).await?;
            operations::end_finished(db, id, now).await?;
            audit::insert(db, &entry).await?;
            record
        });
        self.operation(caller, record.id).await
    }

    /// Sends the requests of failed items again, in the caller's name.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::OperationFinal`] if no item has failed, [`Refusal::QuotaReached`],
    /// or a missing permission.
    pub async fn retry_operation(
        &self,
        caller: Identity,
        id: OperationId,
    ) -> Result<Operation, AppError> {
        own(self.store.operation(id).await?, caller)?;
        let (entry, now) = (self.entry(&caller, Action::RetryOperation, id), self.now());
        let record = write!(self.store, [locks::account(caller.account)], |db| {
            let mut record = own(operations::find(db, id).await?, caller)?;
            caller.check(request::permission(&record.work))?;
            let counts = operations::counts(db, id).await?;
            if counts.failed == 0 {
                return Err(Refusal::OperationFinal("has no device that failed").into());
            }
            let numbers = operations::numbers(db, record.account).await?;
            if counts.pending == 0 {
                check_sending(numbers.sending)?;
            }
            if record.ended_at.is_some() {
                check_unended(numbers.unended)?;
            }
            operations::retry_items(db, id, now).await?;
            record.ended_at = None;
            record.requester = requester(&caller);
            operations::update(db, &record).await?;
            let what = format!("{} devices", counts.failed);
            audit::insert(db, &entry.clone().with(&what)).await?;
            record
        });
        self.operations.notify_one();
        self.operation(caller, record.id).await
    }

    /// Returns the number of devices per second to which operations send requests.
    #[must_use]
    pub const fn operation_rate(&self) -> u32 {
        self.config.operation_rate
    }

    /// Waits until an operation is accepted or retried in this process.
    pub async fn operation_rung(&self) {
        self.operations.notified().await;
    }

    pub(super) async fn describe_operation(
        &self,
        record: OperationRecord,
    ) -> Result<Operation, AppError> {
        let counts = self.store.operation_counts(record.id).await?;
        Ok(record.info(counts))
    }

    /// Reads the devices in one statement, one row more than an operation may have.
    async fn every_device(&self, caller: Identity) -> Result<Vec<Device>, AppError> {
        let page = Page { after: None, limit: limits::OPERATION_DEVICES + 1 };
        let all = DeviceFilter::default();
        let devices = self.store.devices(caller.account, all, Look::of(&page)).await?;
        Ok(devices.iter().map(|(device, _sample)| self.describe(device, None)).collect())
    }
}

/// Refuses the operation if too many have not ended, and deletes the oldest ended operations.
async fn make_room(db: &mut Connection, record: &OperationRecord) -> Result<(), AppError> {
    let OperationNumbers { kept, unended, sending } =
        operations::numbers(db, record.account).await?;
    check_sending(sending)?;
    check_unended(unended)?;
    let most = limits::OPERATIONS_KEPT.saturating_sub(1);
    if kept > most {
        operations::delete_oldest(db, record.account, kept - most).await?;
    }
    Ok(())
}

fn own(record: Option<OperationRecord>, caller: Identity) -> Result<OperationRecord, Refusal> {
    let record = record.filter(|record| record.account == caller.account);
    record.ok_or(Refusal::NotFound("operation"))
}

const fn requester(caller: &Identity) -> Requester {
    let token = match caller.means {
        Means::Login(_) | Means::Cookie(_) | Means::Operation(_) => None,
        Means::Token(token) => Some(token),
    };
    Requester { user: caller.user, token, peer: caller.peer }
}

fn plan(wish: CreateOperation, devices: &[Device], names: Vec<Option<String>>) -> OperationPlan {
    let first = devices.iter().zip(names).take(PLANNED).map(|(device, new_name)| PlannedDevice {
        device_id: device.device_id,
        name: device.name.clone(),
        online: device.online,
        new_name,
    });
    OperationPlan {
        first: first.collect(),
        devices: u32::try_from(devices.len()).unwrap_or(u32::MAX),
        work: wish.work,
    }
}

fn content(wish: &CreateOperation) -> String {
    serde_json::to_string(wish).expect("a wish has only string keys")
}
