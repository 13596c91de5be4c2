//! What travels between device and backend, what else will happen, and how much goes wrong.
//!
//! As over HTTP, a device has three independent lines: hello and polls, receipts, reports. Each
//! loses, delays and repeats messages, and any may overtake the others. The answer to a poll that
//! the device has given up is not read, and hello and model states are not repeated late: their
//! connection is gone. Everything ends with the device's process.

use std::collections::BTreeMap;

use link_agent_core::{
    event::Event,
    record::{DownloadId, OutboxEntry, Report},
    run::Run,
};
use link_protocol::{agent_api::Hello, envelope::Receipt, id::PipelineId};

use super::chance::Chance;

/// Milliseconds of the simulated world.
pub(super) type Ms = u64;

/// One second.
pub(super) const SECOND: Ms = 1000;

/// What can happen next.
#[derive(Clone, Debug)]
pub(super) enum Item {
    /// A message reaches the backend.
    ToBackend(Message),
    /// Something reaches the device's process number `boot`.
    ToDevice { boot: u64, input: Input },
    /// The device's process starts.
    Boot,
    /// The device's process dies.
    Crash,
    /// The device sleeps.
    Suspend,
    /// Another program takes or gives back a port.
    Others,
    /// The backend stops, and starts again.
    BackendRestart,
    /// The network is gone for a while.
    Partition,
    /// The device registers again.
    Registration,
    /// A user wishes something.
    Wish,
    /// A person at the device wants something.
    Person,
    /// The backend looks for what time has ended.
    Sweep,
    /// A parked poll looks again.
    Look,
    /// Nothing goes wrong from here on.
    Quiet,
}

/// What a device sends.
#[derive(Clone, Debug)]
pub(super) enum Message {
    Hello {
        boot: u64,
        request: u64,
        hello: Hello,
    },
    Poll {
        boot: u64,
        request: u64,
        after: u64,
    },
    Receipt(Receipt),
    Report {
        boot: u64,
        entry: OutboxEntry,
    },
    /// A report that arrives once more, nobody waits for the answer.
    Repeated(Report),
}

/// What reaches a device's process.
#[derive(Clone, Debug)]
pub(super) enum Input {
    /// The answer to a request of the control line.
    Answer { request: u64, event: Event },
    /// The request was given up.
    GivenUp { request: u64 },
    /// It is time to say hello.
    Connect,
    /// An event from anywhere else.
    Event(Event),
    /// More of a model file is there.
    Progress { download: DownloadId, bytes: u64 },
    /// A download comes to its end.
    Transferred { download: DownloadId, whole: bool },
    /// An engine answers.
    EngineReady { pipeline: PipelineId, run: Run },
    /// An engine dies.
    EngineDies { pipeline: PipelineId, run: Run },
    /// An engine hangs, and is looked at.
    EngineHangs { pipeline: PipelineId, run: Run },
    /// An engine that was told to stop has.
    EngineStops { pipeline: PipelineId, run: Run },
    /// A deadline of the core may have come.
    Deadline,
}

/// How often things go wrong, in a thousand.
#[derive(Clone, Debug, Default)]
pub(super) struct Faults {
    pub(super) lose: u64,
    pub(super) repeat: u64,
    pub(super) slow: u64,
    pub(super) crash: u64,
    pub(super) forge: u64,
    pub(super) spoil: u64,
    pub(super) engine: u64,
    pub(super) download: u64,
    pub(super) disk: u64,
    /// The backend does not let the device in with a report.
    pub(super) unauthorized: u64,
}

impl Faults {
    /// Draws how much goes wrong in one schedule: each kind often, now and then, or never.
    pub(super) fn draw(chance: &mut Chance) -> Self {
        let mut some = |most: u64| match chance.between(0, 4) {
            0 | 1 => 0,
            2 => most / 6,
            _ => most,
        };
        Self {
            lose: some(300),
            repeat: some(300),
            slow: some(300),
            crash: some(25),
            forge: some(150),
            spoil: some(120),
            engine: some(400),
            download: some(400),
            disk: some(100),
            unauthorized: some(100),
        }
    }
}

/// What happens when.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    items: BTreeMap<(Ms, u64), Item>,
    count: u64,
    pub(super) now: Ms,
}

impl Agenda {
    /// Plans `item` for `delay` from now.
    pub(super) fn after(&mut self, delay: Ms, item: Item) {
        self.count += 1;
        self.items.insert((self.now + delay, self.count), item);
    }

    /// Plans an input of a device's process.
    pub(super) fn input(&mut self, delay: Ms, boot: u64, input: Input) {
        self.after(delay, Item::ToDevice { boot, input });
    }

    /// Moves to the next item.
    pub(super) fn next(&mut self) -> Option<Item> {
        let ((at, _), item) = self.items.pop_first()?;
        self.now = at;
        Some(item)
    }
}

/// The lines between device and backend.
#[derive(Debug, Default)]
pub(super) struct Network {
    /// Until when nothing gets through.
    pub(super) gone_until: Ms,
}

impl Network {
    /// Returns how long a message takes; `None` when it is lost.
    pub(super) fn delay(&self, now: Ms, faults: &Faults, chance: &mut Chance) -> Option<Ms> {
        if now < self.gone_until || chance.happens(faults.lose) {
            return None;
        }
        let slow = chance.happens(faults.slow);
        Some(if slow { chance.between(SECOND, 12 * SECOND) } else { chance.between(5, 300) })
    }

    /// Sends a message that nobody waits for: lost, late, or several times.
    pub(super) fn scatter(
        &self,
        message: &Message,
        agenda: &mut Agenda,
        faults: &Faults,
        chance: &mut Chance,
    ) {
        if let Some(delay) = self.delay(agenda.now, faults, chance) {
            agenda.after(delay, Item::ToBackend(message.clone()));
        }
        if chance.happens(faults.repeat) && agenda.now >= self.gone_until {
            let delay = chance.between(10, 400 * SECOND);
            agenda.after(delay, Item::ToBackend(message.clone()));
        }
    }
}
