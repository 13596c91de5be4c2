//! Transfer of a device to another account, and the handover that informs the device.

use jiff::Timestamp;
use link_protocol::{
    agent_api::Welcome,
    backend_api::{audit::ActorKind, device::TransferDevice},
    handover::Handover,
    id::DeviceId,
};

use crate::{
    app::{App, audit},
    auth::access::Identity,
    database::write,
    domain::{
        attempts::Peer,
        audit::Action,
        device::DeviceRecord,
        key,
        transfer::{self, Plan},
    },
    failure::AppError,
    tables::{self, keys, locks},
};

impl App {
    /// Transfers a device of the caller's account to the account of the key in `wish`.
    ///
    /// # Errors
    /// [`crate::domain::refusal::Refusal::NotFound`], the reason why the key cannot be used, or the device limit.
    pub async fn transfer_device(
        &self,
        caller: Identity,
        id: DeviceId,
        wish: TransferDevice,
    ) -> Result<(), AppError> {
        let key = key::given(wish.registration_key.as_ref(), wish.fleet_key.as_ref())?;
        let (now, limit) = (self.now(), self.config.device_limit);
        // The entries do not name the other account.
        let entries = |Plan { device, .. }: &Plan| {
            let gone = self.entry(&caller, Action::TransferDevice, id).with(&device.name);
            let (actor, action) = (audit::actor(ActorKind::Device, id), Action::ReceiveDevice);
            let came = self.entry_of(device.account, actor, Peer::default(), action, id);
            let came = came.with(&format!("{}, with {}", device.name, device.registered_with));
            [gone, came]
        };
        let to = self.store.account_of_key(&key.digest()).await?;
        let mut held = vec![locks::account(caller.account), locks::device(id)];
        held.extend(to.map(locks::account));
        let device = write!(self.store, held, |db| {
            let known = tables::transfer::known(db, id, &key.digest()).await?;
            let plan = transfer::plan(known, caller.account, limit, now)?;
            tables::transfer::replace(db, caller.account, &plan.device).await?;
            keys::count_device(db, plan.device.account, plan.device.registered_with).await?;
            if plan.key_is_spent {
                keys::revoke(db, plan.device.account, plan.device.registered_with).await?;
            }
            for entry in entries(&plan) {
                tables::audit::insert(db, &entry).await?;
            }
            plan.device
        });
        self.presence.forget(id);
        // Ends a poll of the previous epoch. The next hello brings the handover.
        self.ring_device(id);
        tracing::info!(device = %id, epoch = device.epoch.0, "device transferred");
        Ok(())
    }

    /// Answers the hello of a device that was transferred and is still in the previous epoch. Its state is ignored, and
    /// the answer holds only the handover to the new epoch.
    pub(super) fn hand_over(&self, device: &DeviceRecord, now: Timestamp) -> Welcome {
        let handover = Handover::new(device.id, device.epoch, now);
        Welcome {
            server_time: now,
            epoch: device.epoch,
            commands: Vec::new(),
            handover: Some(handover.seal(&self.command_key)),
        }
    }
}
