//! Many simulated devices in one process, with shared counters and a way to cut all connections.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use link_protocol::{id::CommandId, identity::Identity};
use serde::{Deserialize, Serialize};
use tokio::{sync::watch, task::JoinSet};

use crate::{
    clock,
    device::{Flaw, Simulated},
    drive,
    record::Record,
    shared::{Faults, Shared},
    transport::Transport,
};

/// The longest wait of an agent before a reconnection.
pub const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The behaviour of every device of a fleet.
#[derive(Clone, Copy, Debug)]
pub struct Behaviour {
    /// How long a device needs for one command.
    pub work: Duration,
    pub faults: Faults,
    /// The seed of the random faults.
    pub seed: u64,
    pub flaw: Option<Flaw>,
    /// The longest wait before a reconnection. Waits double with each failure.
    pub longest_wait: Duration,
    /// Whether to record when each command was acknowledged.
    pub keeps_acknowledgements: bool,
}

/// The running devices; dropping the fleet stops them.
#[derive(Debug)]
pub struct Fleet {
    shared: Arc<Shared>,
    cuts: watch::Sender<u64>,
    devices: u64,
    _tasks: JoinSet<()>,
}

/// The counters of a fleet.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Tally {
    pub at_us: u64,
    pub devices: u64,
    /// The number of connected devices whose hello was answered.
    pub online: u64,
    pub connects: u64,
    pub hellos: u64,
    /// The number of answered polls.
    pub polls: u64,
    pub deliveries: u64,
    /// The number of receipts that the backend has recorded.
    pub acknowledged: u64,
    pub effects: u64,
    pub results: u64,
    /// The number of broken connections and unexpected answers.
    pub failures: u64,
    /// The number of receipts, results and devices that the backend refused.
    pub refused: u64,
    /// The number of commands without a valid signature of the backend.
    pub untrusted: u64,
    /// The number of devices that have said hello and polled since the last cut.
    pub settled: u64,
    /// The time at which the last of them polled.
    pub settled_us: u64,
    /// The commands acknowledged since the previous tally, each with its time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acknowledgements: Vec<(CommandId, u64)>,
}

impl Fleet {
    /// Starts a device for each identity.
    #[must_use]
    pub fn start<T: Transport>(
        identities: Vec<Identity>,
        transport: &T,
        behaviour: Behaviour,
        record: Arc<Record>,
    ) -> Self {
        let shared = Arc::new(Shared::new(
            (behaviour.faults, behaviour.seed),
            behaviour.longest_wait,
            record,
            behaviour.keeps_acknowledgements,
        ));
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

    /// Cuts all connections at once; the devices reconnect as agents do.
    pub fn cut(&self) {
        self.shared.cut();
        self.cuts.send_modify(|cuts| *cuts += 1);
    }

    /// Returns the current counters.
    #[must_use]
    pub fn tally(&self) -> Tally {
        let counts = &self.shared.counts;
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
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
            acknowledgements: self.shared.take_acknowledgements(),
        }
    }
}

impl Tally {
    /// Adds the counters of another fleet.
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
