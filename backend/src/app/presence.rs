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

    /// Takes the batch: the unsaved times, and those of its devices that came back. Other backends and counts know that a
    /// device is back only after its batch, so a device that comes back meanwhile is in the next one.
    fn take_batch(&self, now: Timestamp) -> (Vec<(DeviceId, Timestamp)>, HashSet<DeviceId>) {
        let mut heard = self.lock();
        heard.saved_at = Some(now);
        let unsaved = std::mem::take(&mut heard.unsaved);
        let times = unsaved.iter().filter_map(|id| heard.last.get(id).map(|at| (*id, *at)));
        (times.collect(), std::mem::take(&mut heard.back))
    }

    fn put_back(&self, unsaved: &[(DeviceId, Timestamp)], back: HashSet<DeviceId>) {
        let mut heard = self.lock();
        heard.unsaved.extend(unsaved.iter().map(|(id, _)| *id));
        heard.back.extend(back);
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
        let (unsaved, back) = self.presence.take_batch(self.now());
        if unsaved.is_empty() {
            return Ok(());
        }
        let saved = self.store.devices_seen(&unsaved).await;
        if saved.is_err() {
            self.presence.put_back(&unsaved, back);
        } else {
            back.into_iter().for_each(|device| self.announce_device(device));
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
        let (unsaved, back) = presence.take_batch(at(12));
        assert_eq!((unsaved.as_slice(), back.len()), ([(device, at(12))].as_slice(), 1));
        assert!(!presence.is_due(at(16)) && presence.is_due(at(17)));
        assert_eq!(presence.take_batch(at(17)), (vec![], HashSet::new()));
        presence.put_back(&unsaved, back.clone());
        assert_eq!(presence.take_batch(at(18)), (unsaved, back));
        presence.forget(device);
        assert_eq!(presence.last(device), None);
    }

    #[test]
    fn a_device_that_comes_back_during_a_batch_is_announced_after_the_next_one() {
        let presence = Presence::default();
        let [first, second] = [1, 2].map(|id| DeviceId::from_uuid(Uuid::from_u128(id)));
        let at = |seconds| Timestamp::from_second(seconds).unwrap();
        presence.note(first, at(10));
        let (_, back) = presence.take_batch(at(10));
        presence.note(second, at(11));
        assert_eq!(back, HashSet::from([first]));
        assert_eq!(presence.take_batch(at(15)), (vec![(second, at(11))], HashSet::from([second])));
        assert!(!presence.note(second, at(85)) && presence.note(second, at(160)));
    }
}
