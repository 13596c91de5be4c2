//! Requests for a model on a device: repair, serve, stop, uninstall.

use link_protocol::{
    backend_api::command::CommandInfo,
    command::{Command, RepairServing, StartServing, StopServing, UninstallModel},
    id::{CommandId, DeviceId, ModelId, PipelineId},
    port::Port,
    report::LifecycleStatus,
};

use crate::{
    app::{App, queue},
    auth::access::Identity,
    domain::{
        audit::{Action, AuditRecord},
        claim::{Claim, Once},
        device::DeviceRecord,
        explain::AFTER_THE_UPDATE,
        refusal::Refusal,
    },
    failure::AppError,
    host::{metrics, random},
};

/// A model on a device, and the caller of the request.
#[derive(Clone, Copy, Debug)]
pub struct Requested {
    pub caller: Identity,
    pub model: ModelId,
    pub device: DeviceId,
}

impl Requested {
    /// Makes the entry of the audit log.
    fn entry(&self, app: &App, action: Action) -> AuditRecord {
        app.entry(&self.caller, action, self.device).with(&self.model.to_string())
    }

    const fn check_deployed(&self, is_deployed: bool) -> Result<(), Refusal> {
        if is_deployed {
            Ok(())
        } else {
            Err(Refusal::NotDeployed { model: self.model, device: self.device })
        }
    }
}

impl App {
    /// Restarts the serving pipeline of a model in place, with the current allowlist
    /// (specification, section 4.1).
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::NoLongerShared`], [`Refusal::NotDeployed`],
    /// [`Refusal::DeviceOffline`], [`Refusal::QueueFull`], [`Refusal::IdempotencyConflict`].
    pub async fn repair(
        &self,
        on: Requested,
        port: Option<Port>,
        idempotency_key: Option<String>,
    ) -> Result<CommandInfo, AppError> {
        let content = format!("repair {} {} {port:?}", on.model, on.device);
        let claim = idempotency_key.map(|key| Claim::new(on.caller.account, key, &content));
        self.repair_once(on, port, Once::of(claim.as_ref())).await
    }

    /// Repairs unless the same request, identified by `once`, did so before.
    ///
    /// # Errors
    /// As for [`App::repair`], and [`Refusal::ItemTaken`].
    pub(super) async fn repair_once(
        &self,
        on: Requested,
        port: Option<Port>,
        once: Once<'_>,
    ) -> Result<CommandInfo, AppError> {
        let publishers = self.publishers().await?;
        let pair = self.store.pair(on.caller.account, on.device, on.model).await?;
        let is_deployed = pair.is_deployed;
        let (device, _) = pair.deployable(on.caller.account, &publishers)?;
        if let Some(command) = self.repaired_before(once.claim()).await? {
            return Ok(command);
        }
        on.check_deployed(is_deployed)?;
        self.check_online(&device)?;
        let allowlist = self.current_allowlist(device.account).await?;
        let kept = port.map_or_else(|| "keep".to_owned(), |port| port.to_string());
        let key = format!("repair:{}:{kept}:{}", on.model, allowlist.digest());
        let wish = Command::RepairServing(RepairServing {
            pipeline_id: PipelineId::of(on.model),
            model_id: on.model,
            allowlist,
            port,
        });
        let entry = on.entry(self, Action::Repair);
        let sent = self.send(on.device, wish, key, once, entry).await?;
        Ok(noted(sent, &device))
    }

    /// Starts serving a model.
    ///
    /// # Errors
    /// As for [`App::repair`].
    pub async fn serve(
        &self,
        on: Requested,
        port: Option<Port>,
        once: Once<'_>,
    ) -> Result<CommandInfo, AppError> {
        let publishers = self.publishers().await?;
        let pair = self.store.pair(on.caller.account, on.device, on.model).await?;
        let is_deployed = pair.is_deployed;
        let (device, _) = pair.operable(on.caller.account, &publishers)?;
        on.check_deployed(is_deployed)?;
        self.check_online(&device)?;
        let kept = port.map_or_else(|| "keep".to_owned(), |port| port.to_string());
        let key = format!("serve:{}:{kept}", on.model);
        let pipeline_id = PipelineId::of(on.model);
        let wish = Command::StartServing(StartServing { pipeline_id, model_id: on.model, port });
        let sent = self.send(on.device, wish, key, once, on.entry(self, Action::Serve)).await?;
        Ok(noted(sent, &device))
    }

    /// Stops serving a model. The device may be offline.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::NotDeployed`], [`Refusal::QueueFull`].
    pub async fn stop(&self, on: Requested, once: Once<'_>) -> Result<CommandInfo, AppError> {
        let publishers = self.publishers().await?;
        let pair = self.store.pair(on.caller.account, on.device, on.model).await?;
        let is_deployed = pair.is_deployed;
        pair.seen(on.caller.account, &publishers)?;
        on.check_deployed(is_deployed)?;
        let pipeline_id = PipelineId::of(on.model);
        let wish = Command::StopServing(StopServing { pipeline_id, model_id: on.model });
        self.send(on.device, wish, format!("stop:{}", on.model), once, on.entry(self, Action::Stop))
            .await
    }

    /// Removes a model from a device. The device may be offline.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::NotDeployed`], [`Refusal::QueueFull`].
    pub async fn uninstall(&self, on: Requested, once: Once<'_>) -> Result<CommandInfo, AppError> {
        let publishers = self.publishers().await?;
        let pair = self.store.pair(on.caller.account, on.device, on.model).await?;
        let is_deployed = pair.is_deployed;
        pair.seen(on.caller.account, &publishers)?;
        on.check_deployed(is_deployed)?;
        let pipeline_id = PipelineId::of(on.model);
        let wish = Command::UninstallModel(UninstallModel { pipeline_id, model_id: on.model });
        self.send(
            on.device,
            wish,
            format!("uninstall:{}", on.model),
            once,
            on.entry(self, Action::Uninstall),
        )
        .await
    }

    async fn repaired_before(
        &self,
        claim: Option<&Claim>,
    ) -> Result<Option<CommandInfo>, AppError> {
        let Some(claim) = claim else {
            return Ok(None);
        };
        let made = claim.made(self.store.claimed(claim).await?)?;
        let Some(Ok(id)) = made.map(|id| id.parse::<CommandId>()) else {
            return Ok(None);
        };
        Ok(self.store.command(id).await?.map(|record| record.info()))
    }

    fn check_online(&self, device: &DeviceRecord) -> Result<(), Refusal> {
        if self.is_online(device) { Ok(()) } else { Err(Refusal::DeviceOffline(device.id)) }
    }

    /// Stores a command together with its entry in the audit log, and wakes the task that sends
    /// commands to the device.
    pub(super) async fn send(
        &self,
        device: DeviceId,
        wish: Command,
        key: String,
        once: Once<'_>,
        entry: AuditRecord,
    ) -> Result<CommandInfo, AppError> {
        let id = CommandId::from_uuid(random::uuid());
        let record =
            queue::place_command(&self.store, id, device, &wish, &key, once, &entry).await?;
        if record.id == id {
            metrics::command_placed();
        }
        self.ring_device(device);
        Ok(record.info())
    }
}

/// Adds the outlook for a command whose device is being updated.
fn noted(sent: CommandInfo, device: &DeviceRecord) -> CommandInfo {
    let waits = device.status == LifecycleStatus::Updating && sent.result.is_none();
    CommandInfo { note: waits.then(|| AFTER_THE_UPDATE.to_owned()), ..sent }
}
