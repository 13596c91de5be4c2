//! The devices of an account.

use jiff::Timestamp;
use link_protocol::{
    backend_api::{
        audit::ActorKind,
        command::CommandInfo,
        device::{Device, UpdateDevice},
        metrics::{DeviceMetrics, MetricsPeriod},
    },
    command::{Command, UpdateAgent},
    id::DeviceId,
    retire::{RetireCode, RetireRequest},
    system::SystemSample,
};
use semver::Version;
use subtle::ConstantTimeEq as _;

use crate::{
    app::{App, audit},
    auth::access::Identity,
    database::{StoreError, column::broken},
    domain::{
        attempts::Peer,
        audit::{Action, AuditRecord},
        claim::{Claim, Once},
        device::DeviceRecord,
        load, ownership,
        refusal::Refusal,
        retirement, version,
    },
    failure::AppError,
    host::random,
};

impl App {
    /// Returns a device.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn device(&self, caller: Identity, id: DeviceId) -> Result<Device, AppError> {
        let device = ownership::own_device(self.store.device(id).await?, caller.account)?;
        Ok(self.describe(&device, self.store.system(id).await?))
    }

    /// Returns the load of a device over a period that ends now.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn device_metrics(
        &self,
        caller: Identity,
        id: DeviceId,
        period: MetricsPeriod,
    ) -> Result<DeviceMetrics, AppError> {
        let device = ownership::own_device(self.store.device(id).await?, caller.account)?;
        let newest = self.store.system(device.id).await?.map(|sample| sample.report);
        let (length, width) = load::resolution(period);
        let to = self.now();
        let from = to.as_second() - length;
        let steps = self.store.loads(device.id, load::beginning(from, width)).await?;
        let points = load::points(&steps, from, width).map_err(broken)?;
        let gpus = newest.iter().flat_map(|report| &report.gpus);
        let gpu_memory = gpus.filter_map(|gpu| gpu.memory_total_bytes);
        Ok(DeviceMetrics {
            period,
            from: Timestamp::from_second(from).map_err(broken)?,
            to,
            step_seconds: u32::try_from(width).unwrap_or(u32::MAX),
            memory_total_bytes: newest.as_ref().map(|report| report.memory.total_bytes),
            disk_total_bytes: newest
                .as_ref()
                .and_then(|report| report.disk)
                .map(|disk| disk.total_bytes),
            gpu_memory_total_bytes: gpu_memory.reduce(u64::saturating_add),
            points,
        })
    }

    /// Sends a device the command to update its agent. The device may be offline.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::QueueFull`], [`Refusal::IdempotencyConflict`].
    pub async fn update_device(
        &self,
        caller: Identity,
        id: DeviceId,
        UpdateDevice { version }: UpdateDevice,
        idempotency_key: Option<String>,
    ) -> Result<CommandInfo, AppError> {
        version::check(&version)?;
        let claim = idempotency_key
            .map(|key| Claim::new(caller.account, key, &format!("update {id} {version}")));
        self.update_once(caller, id, version, Once::of(claim.as_ref())).await
    }

    /// Updates the agent unless the same request, identified by `once`, did so before.
    ///
    /// # Errors
    /// As for [`App::update_device`], and [`Refusal::ItemTaken`].
    pub(super) async fn update_once(
        &self,
        caller: Identity,
        id: DeviceId,
        version: Version,
        once: Once<'_>,
    ) -> Result<CommandInfo, AppError> {
        let device = ownership::reachable_device(self.store.device(id).await?, caller.account)?;
        let what = version.to_string();
        let key = format!("update:{version}");
        let wish = Command::UpdateAgent(UpdateAgent { version });
        let entry = self.entry(&caller, Action::UpdateDevice, id).with(&what);
        self.send(device.id, wish, key, once, entry).await
    }

    /// Removes a device from the account and frees its slot.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn remove_device(&self, caller: Identity, id: DeviceId) -> Result<(), AppError> {
        let device = ownership::own_device(self.store.device(id).await?, caller.account)?;
        let entry = self.entry(&caller, Action::RemoveDevice, id).with(&device.name);
        self.forget(device.id, &entry).await
    }

    /// Removes a device at its own request.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn deregister(&self, device: &DeviceRecord) -> Result<(), AppError> {
        let actor = audit::actor(ActorKind::Device, device.id);
        let (account, action) = (device.account, Action::RemoveDevice);
        let entry = self.entry_of(account, actor, Peer::default(), action, device.id);
        self.forget(device.id, &entry.with(&device.name)).await?;
        tracing::info!(device = %device.id, "device deregistered");
        Ok(())
    }

    /// Removes the device that signed a retire code, unless it has registered again since.
    ///
    /// # Errors
    /// [`Refusal::RetireCodeMistyped`], [`Refusal::RetireCodeUnknown`],
    /// [`Refusal::RetireCodeStale`].
    pub async fn retire(&self, request: RetireRequest) -> Result<(), AppError> {
        let code =
            RetireCode::parse(request.retire_code.expose()).map_err(Refusal::RetireCodeMistyped)?;
        let device = retirement::check(&code, self.store.device(code.device()).await?)?;
        let actor = audit::actor(ActorKind::Device, device.id);
        let (account, action) = (device.account, Action::RemoveDevice);
        let entry = self.entry_of(account, actor, Peer::default(), action, device.id);
        let entry = entry.with("by its retire code");
        match self.store.remove_registration(device.id, device.epoch, &entry).await {
            Err(StoreError::NotFound) => Err(Refusal::RetireCodeUnknown.into()),
            Err(error) => Err(error.into()),
            Ok(()) => {
                self.ring_device(device.id);
                tracing::info!(device = %device.id, "device retired with its code");
                Ok(())
            }
        }
    }

    /// Finds the device with the token `token`.
    ///
    /// # Errors
    /// [`Refusal::Unauthorized`].
    pub async fn device_with_token(&self, token: &str) -> Result<DeviceRecord, AppError> {
        let digest = random::digest(token);
        let device = self.store.device_by_token(&digest).await?;
        let device = device.filter(|device| bool::from(device.token_digest.ct_eq(&digest)));
        Ok(device.ok_or(Refusal::Unauthorized)?)
    }

    pub(super) fn is_online(&self, device: &DeviceRecord) -> bool {
        self.with_presence(device).is_online(self.polls.is_heard(device.id), self.now())
    }

    async fn forget(&self, id: DeviceId, entry: &AuditRecord) -> Result<(), AppError> {
        match self.store.remove_device(id, entry).await {
            Err(StoreError::NotFound) => Err(Refusal::NotFound("device").into()),
            other => {
                self.presence.forget(id);
                self.ring_device(id);
                Ok(other?)
            }
        }
    }

    pub(super) fn describe(&self, device: &DeviceRecord, system: Option<SystemSample>) -> Device {
        let heard = self.polls.is_heard(device.id);
        self.with_presence(device).info(system, heard, self.now())
    }
}
