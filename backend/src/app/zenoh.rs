//! The zenoh transport: slots of devices, and the due commands of devices with a running task.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use jiff::Timestamp;
use link_protocol::{
    counter::Seq,
    secret::Secret,
    signing::Signed,
    zenoh::{Slot, ZenohAccess},
};
use ring::hmac;
use tokio::sync::watch;

use crate::{
    app::{
        App,
        control::{self, DueCommands, Why},
    },
    domain::{device::DeviceRecord, refusal::Refusal, slot::SlotTurn},
    failure::AppError,
    host::wake::Listener,
};

/// The task of a device checks for commands at least this often.
const LOOK_AGAIN: Duration = Duration::from_secs(60);

/// The connection settings of the router for devices.
#[derive(Debug)]
pub(crate) struct ZenohOffer {
    pub(crate) endpoints: Vec<String>,
    pub(crate) root_ca: Option<String>,
    /// The seed from which the passwords are derived.
    pub(crate) seed: [u8; 32],
}

/// A user of the router.
#[derive(Clone, Debug)]
pub(crate) struct User {
    pub(crate) slot: Slot,
    pub(crate) password: Secret,
}

/// The state of the transport in this process.
#[derive(Debug, Default)]
pub(super) struct ZenohState {
    offer: std::sync::OnceLock<ZenohOffer>,
    slot_awaited: AtomicBool,
}

/// The due commands of a device.
#[derive(Debug)]
pub(crate) enum Due {
    Now(Vec<Signed>),
    /// Nothing is due before this time, unless a bell rings.
    Later(Duration),
    /// The device was removed, was registered again, or polls over HTTP.
    Never,
}

/// A task that sends due commands to a device.
pub(crate) struct Attending<'a> {
    app: &'a App,
    device: DeviceRecord,
    listener: Listener<link_protocol::id::DeviceId>,
    draining: watch::Receiver<bool>,
    why: Why,
}

impl App {
    /// Returns the address of the router and the device's user and password there.
    ///
    /// # Errors
    /// [`Refusal::ZenohNotOffered`], [`Refusal::NoSlotFree`].
    pub async fn zenoh_access(&self, device: &DeviceRecord) -> Result<ZenohAccess, AppError> {
        let offer = self.zenoh.offer.get().ok_or(Refusal::ZenohNotOffered)?;
        let Some(turn) = self.store.take_slot(device).await? else {
            self.zenoh.slot_awaited.store(true, Ordering::Relaxed);
            return Err(Refusal::NoSlotFree.into());
        };
        let user = user(offer, turn);
        Ok(ZenohAccess {
            endpoints: offer.endpoints.clone(),
            username: user.slot.name().to_owned(),
            password: user.password,
            root_ca: offer.root_ca.clone(),
        })
    }

    pub(crate) fn offer_zenoh(&self, offer: ZenohOffer) {
        if self.zenoh.offer.set(offer).is_err() {
            tracing::error!("zenoh was started twice");
        }
    }

    pub(crate) fn zenoh_user(&self, turn: SlotTurn) -> Option<User> {
        Some(user(self.zenoh.offer.get()?, turn))
    }

    pub(crate) fn is_slot_awaited(&self) -> bool {
        self.zenoh.slot_awaited.load(Ordering::Relaxed)
    }

    pub(crate) fn slots_made(&self) {
        self.zenoh.slot_awaited.store(false, Ordering::Relaxed);
    }

    pub(crate) async fn device_in_slot(
        &self,
        slot: &Slot,
    ) -> Result<Option<DeviceRecord>, AppError> {
        let Some(number) = slot.number() else { return Ok(None) };
        Ok(self.store.device_in_slot(number).await?)
    }

    /// Records that a device has sent a message.
    pub(crate) fn heard(&self, device: &DeviceRecord) -> Timestamp {
        let now = self.now();
        self.note_presence(device.id, now);
        now
    }

    pub(crate) fn time(&self) -> Timestamp {
        self.now()
    }

    pub(crate) fn draining(&self) -> watch::Receiver<bool> {
        self.draining.subscribe()
    }

    /// Takes over the delivery to the device from an earlier task or poll. The device counts as
    /// online while the value lives.
    pub(crate) fn attend(&self, device: &DeviceRecord) -> Attending<'_> {
        Attending {
            app: self,
            device: device.clone(),
            listener: self.polls.listen(device.id),
            draining: self.draining.subscribe(),
            why: Why::Due,
        }
    }
}

impl Attending<'_> {
    /// Takes the due commands and counts their deliveries.
    pub(crate) async fn due(&mut self) -> Result<Due, AppError> {
        let why = std::mem::replace(&mut self.why, Why::Due);
        let Self { app, device, .. } = self;
        if *self.draining.borrow() || !self.listener.is_newest() {
            return Ok(Due::Never);
        }
        let stored = app.store.device(device.id).await?;
        if stored.is_none_or(|stored| stored.epoch != device.epoch) {
            return Ok(Due::Never);
        }
        let now = app.now();
        match app.look(device, Seq::default(), why, now).await? {
            DueCommands::Commands(commands) => Ok(Due::Now(commands)),
            DueCommands::Nothing { next } => {
                app.note_presence(device.id, now);
                Ok(Due::Later(control::pause(next, now, LOOK_AGAIN)))
            }
        }
    }

    /// Waits until the bell of the device rings.
    pub(crate) async fn rung(&mut self) {
        tokio::select! {
            rung = self.listener.rung() => self.why = rung.into(),
            _ = self.draining.changed() => {}
        }
    }
}

/// Derives the password of a slot from the seed, so that no table stores it.
fn user(offer: &ZenohOffer, turn: SlotTurn) -> User {
    let slot = Slot::numbered(turn.slot);
    let key = hmac::Key::new(hmac::HMAC_SHA256, &offer.seed);
    let tag = hmac::sign(&key, format!("{slot} {}", turn.turn).as_bytes());
    let password = tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    User { slot, password: Secret::new(password) }
}
