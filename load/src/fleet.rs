//! Many simulated devices in one process: what they count, and how they are cut off together.

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

impl Fleet {
    /// Lets a device live for each identity.
    #[must_use]
    pub fn start<T: Transport>(
        identities: Vec<Identity>,
        transport: &T,
        behaviour: Behaviour,
        record: Arc<Record>,
    ) -> Self {
        let shared = Arc::new(Shared::new(
            behaviour.faults,
            behaviour.seed,
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

    /// Cuts every connection at once; the devices come back as agents do.
    pub fn cut(&self) {
        self.shared.cut();
        self.cuts.send_modify(|cuts| *cuts += 1);
    }

    /// Returns what was done so far.
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
