//! Registration of devices.

use link_protocol::{
    backend_api::audit::ActorKind,
    id::{AccountId, DeviceId},
    key::EnrolmentKey,
    registration::{RegisterRequest, Registered, TransportSettings, TransportType},
};

use crate::{
    app::{App, audit},
    auth::access::Identity,
    database::{Store, StoreError, lock, write},
    domain::{
        attempts::Peer,
        audit::{Action, AuditRecord},
        device::DeviceRecord,
        name,
        registration::{self, Given, Plan},
    },
    failure::AppError,
    host::random,
    tables::{self, commands, device_counts, devices, keys, locks},
};

/// A request to register a device.
#[derive(Debug)]
pub struct Enrolment<'r> {
    pub key: &'r EnrolmentKey,
    pub request: &'r RegisterRequest,
    /// The account of the user who registers the device, if the request is from a user.
    pub account: Option<AccountId>,
    /// The maximum number of devices of an account.
    pub limit: u32,
    pub given: Given,
}

/// Registers a device in one transaction, so a device is never registered partly. `entry` makes the entry of the audit
/// log.
///
/// # Errors
/// The reason why the key cannot be used, the device limit, and [`AppError::Store`].
pub async fn enrol(
    store: &Store,
    enrolment: &Enrolment<'_>,
    entry: impl Fn(&DeviceRecord) -> AuditRecord + Send + Sync,
) -> Result<DeviceRecord, AppError> {
    let Enrolment { key, request, account, limit, given } = enrolment;
    let now = given.now;
    let registered = write!(store, [], |db| {
        if let Some(found) = keys::find(db, &key.digest()).await? {
            lock::take(db, &[locks::account(found.account)]).await?;
        }
        let known = devices::known(db, key, request).await?;
        let plan = registration::plan(request, known, *account, *limit, now)?;
        let former = match &plan {
            Plan::Enrol { .. } => None,
            Plan::Reactivate { device, .. } => {
                lock::take(db, &[locks::device(*device)]).await?;
                devices::find(db, *device).await?
            }
        };
        let before = former.as_ref().map(|device| device.registered_with);
        let device = registration::registered(&plan, former, request, given);
        let device = device.ok_or(StoreError::NotFound)?;
        match &plan {
            Plan::Enrol { key } => {
                keys::count_device(db, key.account, key.id).await?;
                devices::insert(db, &device).await?;
            }
            Plan::Reactivate { key, .. } => {
                // Undoes the increment in `known`: a known device was counted before.
                device_counts::decrement(db, key.account).await?;
                if before != Some(key.id) {
                    keys::count_device(db, key.account, key.id).await?;
                }
                devices::update(db, &device).await?;
                // Commands that were delivered in an earlier epoch are delivered again.
                for mut command in commands::open(db, device.id).await? {
                    command.restart(now);
                    commands::update(db, &command).await?;
                }
            }
        }
        tables::audit::insert(db, &entry(&device)).await?;
        device
    });
    Ok(registered)
}

impl App {
    /// Registers a device with a key, or reactivates its record.
    ///
    /// # Errors
    /// The reason why the key cannot be used, the device limit, or an invalid value.
    pub async fn register(
        &self,
        peer: Peer,
        caller: Option<Identity>,
        request: RegisterRequest,
    ) -> Result<Registered, AppError> {
        let key = registration::check(&request)?;
        let token = random::secret("ldt_");
        let enrolment = Enrolment {
            key,
            request: &request,
            account: caller.map(|caller| caller.account),
            limit: self.config.device_limit,
            given: Given {
                id: DeviceId::from_uuid(random::uuid()),
                name: name::checked("name", &request.name)?,
                token_digest: random::digest(token.expose()),
                now: self.now(),
            },
        };
        let entry = |device: &DeviceRecord| {
            let actor = audit::actor(ActorKind::Device, device.id);
            let action = Action::RegisterDevice;
            let entry = self.entry_of(device.account, actor, peer, action, device.id);
            entry.with(&format!("{}, with {}", device.name, device.registered_with))
        };
        let device = enrol(&self.store, &enrolment, entry).await?;
        // Ends a poll with the previous token.
        self.ring_device(device.id);
        tracing::info!(device = %device.id, epoch = device.epoch.0, "device registered");
        Ok(Registered {
            device_id: device.id,
            requested_id_unknown: request.device_id.is_some_and(|asked| asked != device.id),
            device_token: token,
            epoch: device.epoch,
            transport: TransportSettings { r#type: TransportType::Http },
            backend_keys: vec![self.command_key.verifying().clone()],
        })
    }
}
