//! Many simulated devices in one process: what they count, and how they are cut off together.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use link_protocol::{id::CommandId, identity::Identity};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use serde::{Deserialize, Serialize};
use tokio::{sync::watch, task::JoinSet};

use crate::{
    clock,
    device::{Flaw, Simulated},
    drive::{self, Faults},
    record::Record,
    transport::{Lost, Transport},
};

/// What every device of a fleet does.
#[derive(Clone, Copy, Debug, Default)]
pub struct Behaviour {
    /// How long one command takes.
    pub work: Duration,
    pub faults: Faults,
    /// Of the chances of the faults.
    pub seed: u64,
    pub flaw: Option<Flaw>,
    /// Whether the fleet keeps when each command was acknowledged.
    pub keeps_acknowledgements: bool,
}

/// Devices that live until this is dropped.
#[derive(Debug)]
pub struct Fleet {
    shared: Arc<Shared>,
    cuts: watch::Sender<u64>,
    devices: u64,
    _tasks: JoinSet<()>,
}

/// What a fleet has done so far.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Tally {
    pub at_us: u64,
    pub devices: u64,
    /// Devices that were greeted and whose connection stands.
    pub online: u64,
    pub connects: u64,
    pub hellos: u64,
    /// Polls that were answered.
    pub polls: u64,
    pub deliveries: u64,
    /// Receipts that the backend noted.
    pub acknowledged: u64,
    pub effects: u64,
    pub results: u64,
    /// Connections that ended without being asked to, and answers that were not as they should be.
    pub failures: u64,
    /// Receipts and results that the backend refused, and devices that it does not know.
    pub refused: u64,
    /// Commands whose signature was not one of the backend.
    pub untrusted: u64,
    /// Devices that said hello and polled since all were cut off last.
    pub settled: u64,
    /// When the last of them did.
    pub settled_us: u64,
    /// Since the tally before: which command was acknowledged, and when.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acknowledgements: Vec<(CommandId, u64)>,
}

#[derive(Debug, Default)]
pub(crate) struct Counts {
    online: AtomicU64,
    pub(crate) connects: AtomicU64,
    pub(crate) hellos: AtomicU64,
    pub(crate) polls: AtomicU64,
    pub(crate) deliveries: AtomicU64,
    acknowledged: AtomicU64,
    pub(crate) effects: AtomicU64,
    pub(crate) results: AtomicU64,
    failures: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) untrusted: AtomicU64,
    settled: AtomicU64,
    settled_us: AtomicU64,
    cut: AtomicU64,
}

/// What the devices of a fleet share.
#[derive(Debug)]
pub(crate) struct Shared {
    counts: Counts,
    pub(crate) faults: Faults,
    pub(crate) record: Arc<Record>,
    chance: Mutex<StdRng>,
    acknowledgements: Option<Mutex<Vec<(CommandId, u64)>>>,
}

/// Where one device is on its way to be settled; what it counted as online ends with it.
#[derive(Debug)]
pub(crate) struct Standing<'a> {
    counts: &'a Counts,
    cut: u64,
    online: bool,
    /// The cut after which the device was settled last.
    settled: &'a mut Option<u64>,
}

impl Fleet {
    /// Lets a device live for each identity.
    #[must_use]
    pub fn start<T: Transport>(
        identities: Vec<Identity>,
        transport: &T,
        behaviour: Behaviour,
        record: Arc<Record>,
    ) -> Self {
        let shared = Arc::new(Shared {
            counts: Counts::default(),
            faults: behaviour.faults,
            record,
            chance: Mutex::new(StdRng::seed_from_u64(behaviour.seed)),
            acknowledgements: behaviour.keeps_acknowledgements.then(Mutex::default),
        });
        let cuts = watch::Sender::new(0);
        let work_us = u64::try_from(behaviour.work.as_micros()).unwrap_or(u64::MAX);
        let devices = identities.len() as u64;
        let mut tasks = JoinSet::new();
        for identity in identities {
            let device = Simulated::new(identity, work_us, behaviour.flaw);
            let (transport, shared, cuts) =
                (transport.clone(), Arc::clone(&shared), cuts.subscribe());
            tasks.spawn(drive::live(device, transport, shared, cuts));
        }
        Self { shared, cuts, devices, _tasks: tasks }
    }

    /// Cuts every connection at once; the devices come back as agents do.
    pub fn cut(&self) {
        let counts = &self.shared.counts;
        counts.settled.store(0, Ordering::SeqCst);
        counts.cut.fetch_add(1, Ordering::SeqCst);
        self.cuts.send_modify(|cuts| *cuts += 1);
    }

    /// Returns what was done so far.
    #[must_use]
    pub fn tally(&self) -> Tally {
        let counts = &self.shared.counts;
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let acknowledgements =
            self.shared.acknowledgements.as_ref().map(|kept| {
                std::mem::take(&mut *kept.lock().unwrap_or_else(PoisonError::into_inner))
            });
        Tally {
            at_us: clock::now_us(),
            devices: self.devices,
            online: read(&counts.online),
            connects: read(&counts.connects),
            hellos: read(&counts.hellos),
            polls: read(&counts.polls),
            deliveries: read(&counts.deliveries),
            acknowledged: read(&counts.acknowledged),
            effects: read(&counts.effects),
            results: read(&counts.results),
            failures: read(&counts.failures),
            refused: read(&counts.refused),
            untrusted: read(&counts.untrusted),
            settled: read(&counts.settled),
            settled_us: read(&counts.settled_us),
            acknowledgements: acknowledgements.unwrap_or_default(),
        }
    }
}

impl Tally {
    /// Adds what another fleet has done.
    pub fn add(&mut self, other: &Self) {
        self.at_us = self.at_us.max(other.at_us);
        self.settled_us = self.settled_us.max(other.settled_us);
        for (sum, more) in [
            (&mut self.devices, other.devices),
            (&mut self.online, other.online),
            (&mut self.connects, other.connects),
            (&mut self.hellos, other.hellos),
            (&mut self.polls, other.polls),
            (&mut self.deliveries, other.deliveries),
            (&mut self.acknowledged, other.acknowledged),
            (&mut self.effects, other.effects),
            (&mut self.results, other.results),
            (&mut self.failures, other.failures),
            (&mut self.refused, other.refused),
            (&mut self.untrusted, other.untrusted),
            (&mut self.settled, other.settled),
        ] {
            *sum += more;
        }
    }
}

impl Shared {
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

    /// Tells whether something with this chance happens this time.
    pub(crate) fn happens(&self, chance: f64) -> bool {
        chance > 0.0
            && self.chance.lock().unwrap_or_else(PoisonError::into_inner).random_bool(chance)
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
