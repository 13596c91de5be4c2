//! The state that the devices of one fleet share: faults, counters and the record.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use link_protocol::id::CommandId;
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};

use crate::{clock, record::Record, transport::Lost};

/// Faults that a device injects, each with its probability.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    /// A delivery arrives twice.
    pub duplicate: f64,
    /// A receipt is not sent.
    pub lose_receipt: f64,
    /// A result is sent, and its answer ignored.
    pub lose_answer: f64,
    /// The device restarts after a poll.
    pub restart: f64,
}

/// The counters of all devices.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) online: AtomicU64,
    pub(crate) connects: AtomicU64,
    pub(crate) hellos: AtomicU64,
    pub(crate) polls: AtomicU64,
    pub(crate) deliveries: AtomicU64,
    pub(crate) acknowledged: AtomicU64,
    pub(crate) effects: AtomicU64,
    pub(crate) results: AtomicU64,
    pub(crate) failures: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) untrusted: AtomicU64,
    pub(crate) settled: AtomicU64,
    pub(crate) settled_us: AtomicU64,
    cut: AtomicU64,
}

/// The state that the devices of a fleet share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) counts: Counts,
    pub(crate) faults: Faults,
    pub(crate) longest_wait: Duration,
    pub(crate) record: Arc<Record>,
    random: Mutex<StdRng>,
    acknowledgements: Option<Mutex<Vec<(CommandId, u64)>>>,
}

/// Tracks one connection of a device. Dropping the value counts the device as offline.
#[derive(Debug)]
pub(crate) struct Standing<'a> {
    counts: &'a Counts,
    cut: u64,
    online: bool,
    /// The number of the cut after which the device last settled.
    settled: &'a mut Option<u64>,
}

impl Shared {
    /// Creates the state before any event; `seed` determines the random faults.
    pub(crate) fn new(
        (faults, seed): (Faults, u64),
        longest_wait: Duration,
        record: Arc<Record>,
        keeps_acknowledgements: bool,
    ) -> Self {
        Self {
            counts: Counts::default(),
            faults,
            longest_wait,
            record,
            random: Mutex::new(StdRng::seed_from_u64(seed)),
            acknowledgements: keeps_acknowledgements.then(Mutex::default),
        }
    }

    /// Resets the count of settled devices, because every connection is cut.
    pub(crate) fn cut(&self) {
        self.counts.settled.store(0, Ordering::SeqCst);
        self.counts.cut.fetch_add(1, Ordering::SeqCst);
    }

    /// Returns the acknowledgements since the last call.
    pub(crate) fn take_acknowledgements(&self) -> Vec<(CommandId, u64)> {
        let kept = self.acknowledgements.as_ref();
        let taken = kept
            .map(|kept| std::mem::take(&mut *kept.lock().unwrap_or_else(PoisonError::into_inner)));
        taken.unwrap_or_default()
    }

    pub(crate) fn count(&self, which: impl Fn(&Counts) -> &AtomicU64) {
        which(&self.counts).fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn acknowledged(&self, command: CommandId, at_us: u64) {
        self.counts.acknowledged.fetch_add(1, Ordering::Relaxed);
        if let Some(kept) = &self.acknowledgements {
            kept.lock().unwrap_or_else(PoisonError::into_inner).push((command, at_us));
        }
    }

    pub(crate) fn lost(&self, lost: &Lost) {
        let count = match lost {
            Lost::Broken(_) => &self.counts.failures,
            Lost::Refused(_) => &self.counts.refused,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    /// Decides at random whether a fault with this probability happens now.
    pub(crate) fn happens(&self, probability: f64) -> bool {
        probability > 0.0
            && self.random.lock().unwrap_or_else(PoisonError::into_inner).random_bool(probability)
    }
}

impl<'a> Standing<'a> {
    pub(crate) const fn new(shared: &'a Shared, cut: u64, settled: &'a mut Option<u64>) -> Self {
        Self { counts: &shared.counts, cut, online: false, settled }
    }

    pub(crate) fn greeted(&mut self) {
        self.online = true;
        self.counts.online.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn polls(&mut self) {
        let current = self.cut == self.counts.cut.load(Ordering::SeqCst);
        if current && *self.settled != Some(self.cut) {
            *self.settled = Some(self.cut);
            self.counts.settled.fetch_add(1, Ordering::SeqCst);
            self.counts.settled_us.fetch_max(clock::now_us(), Ordering::SeqCst);
        }
    }
}

impl Drop for Standing<'_> {
    fn drop(&mut self) {
        if self.online {
            self.counts.online.fetch_sub(1, Ordering::Relaxed);
        }
    }
}
