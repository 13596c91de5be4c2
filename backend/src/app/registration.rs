//! Registration of devices.

use link_protocol::{
    backend_api::audit::ActorKind,
    id::DeviceId,
    registration::{RegisterRequest, Registered, TransportSettings, TransportType},
    report::LifecycleStatus,
};

use crate::{
    access::Identity,
    app::{App, audit},
    chance,
    database::StoreError,
    domain::{
        attempts::Peer,
        audit::Action,
        device::DeviceRecord,
        name,
        registration::{self, Plan},
    },
    failure::Failure,
};

impl App {
    /// Registers a device with a key, or wakes its record up again.
    ///
    /// # Errors
    /// Why the key cannot be used, the device limit, or a value that is not valid.
    pub async fn register(
        &self,
        peer: Peer,
        caller: Option<Identity>,
        request: RegisterRequest,
    ) -> Result<Registered, Failure> {
        let key = registration::check(&request)?;
        let device_name = name::checked("name", &request.name)?;
        let (now, limit) = (self.now(), self.config.device_limit);
        let token = chance::secret("ldt_");
        let account = caller.map(|caller| caller.account);
        let decide = |known| Ok(registration::plan(&request, known, account, limit, now)?);
        let make = |plan: &Plan, former: Option<DeviceRecord>| {
            let token_digest = chance::digest(token.expose());
            let fresh = |key: &crate::domain::key::KeyRecord| DeviceRecord {
                id: DeviceId::from_uuid(chance::uuid()),
                account: key.account,
                name: device_name.clone(),
                token_digest,
                epoch: 1,
                public_key: request.public_key.clone(),
                registered_with: key.id,
                tags: key.tags.clone(),
                agent_version: request.agent_version.clone(),
                last_update: None,
                platform: request.platform.clone(),
                status: LifecycleStatus::Starting,
                greeted_epoch: None,
                last_seen_at: None,
                registered_at: now,
            };
            match plan {
                Plan::Enrol { key } => Ok(fresh(key)),
                Plan::Reactivate { key, .. } => {
                    let former = former.ok_or(StoreError::NotFound)?;
                    Ok(DeviceRecord {
                        id: former.id,
                        epoch: former.epoch + 1,
                        last_seen_at: former.last_seen_at,
                        registered_at: former.registered_at,
                        ..fresh(key)
                    })
                }
            }
        };
        let entry = |device: &DeviceRecord| {
            let actor = audit::actor(ActorKind::Device, device.id);
            let action = Action::RegisterDevice;
            let entry = self.entry_of(device.account, actor, peer, action, device.id);
            entry.with(&format!("{}, with {}", device.name, device.registered_with))
        };
        let device = self.store.register(key, &request, entry, now, decide, make).await?;
        // A poll with the token of before ends.
        self.ring_device(device.id);
        tracing::info!(device = %device.id, epoch = device.epoch, "device registered");
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
