//! The time of the last message of each device. Memory holds it at once. The database gets it a few
//! seconds later in one batch, because thousands of devices send messages all the time.
//!
//! A backend that is killed loses the last seconds. That is harmless: a device counts as online for
//! [`link_protocol::limits::OFFLINE_AFTER`] after its last message, and a hello is stored at once.

use std::{
    collections::{HashMap, HashSet},
    sync::{Mutex, MutexGuard, PoisonError},
};

use jiff::{SignedDuration, Timestamp};
use link_protocol::{id::DeviceId, limits};

use crate::{
    app::App,
    domain::{
        change::{Change, Subject},
        device::DeviceRecord,
    },
    failure::AppError,
};

/// The interval between two batches.
const SAVE_EVERY: SignedDuration = SignedDuration::from_secs(5);

/// The last messages of devices since the start.
#[derive(Debug, Default)]
pub(super) struct Presence {
    heard: Mutex<Heard>,
}

#[derive(Debug, Default)]
struct Heard {
    last: HashMap<DeviceId, Timestamp>,
    unsaved: HashSet<DeviceId>,
    /// The unsaved devices that came back.
    back: HashSet<DeviceId>,
    saved_at: Option<Timestamp>,
}

impl Presence {
    /// Notes a message. Returns whether the device comes back: it has sent none for long, or none in this process.
    pub(super) fn note(&self, device: DeviceId, now: Timestamp) -> bool {
        let longest = SignedDuration::try_from(limits::OFFLINE_AFTER).unwrap_or_default();
        let mut heard = self.lock();
        let before = heard.last.insert(device, now);
        heard.unsaved.insert(device);
        let comes_back = before.is_none_or(|before| now.duration_since(before) >= longest);
        if comes_back {
            heard.back.insert(device);
        }
        comes_back
    }

    pub(super) fn forget(&self, device: DeviceId) {
        let mut heard = self.lock();
        heard.last.remove(&device);
        heard.unsaved.remove(&device);
        heard.back.remove(&device);
    }

    fn last(&self, device: DeviceId) -> Option<Timestamp> {
        self.lock().last.get(&device).copied()
    }

    fn is_due(&self, now: Timestamp) -> bool {
        let saved_at = self.lock().saved_at;
        saved_at.is_none_or(|saved| now.duration_since(saved) >= SAVE_EVERY)
    }

    fn take_unsaved(&self, now: Timestamp) -> Vec<(DeviceId, Timestamp)> {
        let mut heard = self.lock();
        heard.saved_at = Some(now);
        let unsaved = std::mem::take(&mut heard.unsaved);
        unsaved.iter().filter_map(|id| heard.last.get(id).map(|at| (*id, *at))).collect()
    }

    /// Takes the devices that came back since the last batch. Only after the batch do other backends and counts know it.
    fn take_back(&self) -> HashSet<DeviceId> {
        std::mem::take(&mut self.lock().back)
    }

    fn put_back(&self, unsaved: &[(DeviceId, Timestamp)]) {
        self.lock().unsaved.extend(unsaved.iter().map(|(id, _)| *id));
    }

    fn lock(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl App {
    /// Stores the times of messages since the last batch.
    ///
    /// # Errors
    /// [`AppError::Store`]; the next batch retries.
    pub async fn save_presence(&self) -> Result<(), AppError> {
        let unsaved = self.presence.take_unsaved(self.now());
        if unsaved.is_empty() {
            return Ok(());
        }
        let saved = self.store.devices_seen(&unsaved).await;
        if saved.is_err() {
            self.presence.put_back(&unsaved);
        } else {
            self.presence.take_back().into_iter().for_each(|device| self.announce_device(device));
        }
        Ok(saved?)
    }

    /// Notes a message of a device, and announces that a device comes back.
    pub(super) fn note_presence(&self, device: DeviceId, now: Timestamp) {
        if self.presence.note(device, now) {
            self.announce_device(device);
        }
    }

    fn announce_device(&self, device: DeviceId) {
        self.store.announce(Change { account: None, subject: Subject::Device(device) });
    }

    /// Stores the times of messages if a batch is due.
    pub(super) async fn save_presence_when_due(&self) -> Result<(), AppError> {
        if self.presence.is_due(self.now()) { self.save_presence().await } else { Ok(()) }
    }

    /// Returns the device with the time of its latest message.
    pub(super) fn with_presence(&self, device: &DeviceRecord) -> DeviceRecord {
        let mut device = device.clone();
        device.last_seen_at = device.last_seen_at.max(self.presence.last(device.id));
        device
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn what_was_heard_is_known_at_once_and_saved_once() {
        let (presence, device) = (Presence::default(), DeviceId::from_uuid(Uuid::from_u128(1)));
        let at = |seconds| Timestamp::from_second(seconds).unwrap();
        assert!(presence.note(device, at(10)));
        assert!(!presence.note(device, at(12)));
        assert_eq!(presence.last(device), Some(at(12)));
        assert!(presence.is_due(at(12)));
        let unsaved = presence.take_unsaved(at(12));
        assert_eq!(unsaved, [(device, at(12))]);
        assert!(!presence.is_due(at(16)) && presence.is_due(at(17)));
        assert_eq!(presence.take_unsaved(at(17)), []);
        presence.put_back(&unsaved);
        assert_eq!(presence.take_unsaved(at(18)), unsaved);
        assert!(!presence.note(device, at(86)) && presence.note(device, at(161)));
        assert_eq!(presence.take_back(), HashSet::from([device]));
        presence.forget(device);
        assert_eq!((presence.last(device), presence.take_unsaved(at(21))), (None, vec![]));
    }
}
