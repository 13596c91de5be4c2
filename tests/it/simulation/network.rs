//! The messages between device and backend, the planned events, and the rates of faults.
//!
//! As over HTTP, a device has three independent lines: hello and polls, receipts, and reports. Each
//! loses, delays and repeats messages, and any may overtake the others. The answer to an aborted
//! poll is not read. A hello and model states are never repeated late, because their connection is
//! closed. All lines end with the device's process.

use std::collections::BTreeMap;

use link_agent_core::{
    event::Event,
    record::{DownloadId, OutboxEntry, Report},
    run::Run,
};
use link_protocol::{agent_api::Hello, counter::Seq, envelope::Receipt, id::PipelineId};

use super::random::Random;

/// Milliseconds of the simulated world.
pub(super) type Ms = u64;

/// One second.
pub(super) const SECOND: Ms = 1000;

/// A planned event.
#[derive(Clone, Debug)]
pub(super) enum Item {
    /// A message reaches the backend.
    ToBackend(Message),
    /// An input reaches the process `boot` of the device.
    ToDevice { boot: u64, input: Input },
    /// The device's process starts.
    Boot,
    /// The device's process dies.
    Crash,
    /// The device sleeps.
    Suspend,
    /// Another program takes or frees a port.
    Others,
    /// The backend stops, and starts again.
    BackendRestart,
    /// The network fails for a while.
    Partition,
    /// The device registers again.
    Registration,
    /// A user sends a random request.
    Wish,
    /// A person at the device requests something.
    Person,
    /// The backend ends everything that has expired.
    Sweep,
    /// The backend checks the parked poll.
    Look,
    /// The quiet phase begins: no more faults.
    Quiet,
}

/// A message of the device.
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
        after: Seq,
    },
    Receipt(Receipt),
    Report {
        boot: u64,
        entry: OutboxEntry,
    },
    /// A repeated report, whose answer nobody reads.
    Repeated(Report),
}

/// An input of the device's process.
#[derive(Clone, Debug)]
pub(super) enum Input {
    /// The answer to a request of the control line.
    Answer { request: u64, event: Event },
    /// The request was aborted.
    GivenUp { request: u64 },
    /// The device must send its hello.
    Connect,
    /// An event from anywhere else.
    Event(Event),
    /// More of a model file has arrived.
    Progress { download: DownloadId, bytes: u64 },
    /// A download ends.
    Transferred { download: DownloadId, whole: bool },
    /// An engine answers.
    EngineReady { pipeline: PipelineId, run: Run },
    /// An engine dies.
    EngineDies { pipeline: PipelineId, run: Run },
    /// An engine hangs, and its health check fails.
    EngineHangs { pipeline: PipelineId, run: Run },
    /// An engine that was asked to stop has ended.
    EngineStops { pipeline: PipelineId, run: Run },
    /// A deadline of the core may have come.
    Deadline,
}

/// The probability of each fault, in a thousand.
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
    /// The backend answers a report with 401.
    pub(super) unauthorized: u64,
}

impl Faults {
    /// Draws the probabilities for one schedule: each fault is frequent, rare or absent.
    pub(super) fn draw(random: &mut Random) -> Self {
        let mut some = |most: u64| match random.between(0, 4) {
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

/// The planned events, by their time.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    items: BTreeMap<(Ms, u64), Item>,
    count: u64,
    pub(super) now: Ms,
}

impl Agenda {
    /// Plans `item` at `delay` from now.
    pub(super) fn after(&mut self, delay: Ms, item: Item) {
        self.count += 1;
        self.items.insert((self.now + delay, self.count), item);
    }

    /// Plans an input of the device's process.
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
    /// The time until which no message gets through.
    pub(super) gone_until: Ms,
}

impl Network {
    /// Returns the delay of a message. `None` if the message is lost.
    pub(super) fn delay(&self, now: Ms, faults: &Faults, random: &mut Random) -> Option<Ms> {
        if now < self.gone_until || random.happens(faults.lose) {
            return None;
        }
        let slow = random.happens(faults.slow);
        Some(if slow { random.between(SECOND, 12 * SECOND) } else { random.between(5, 300) })
    }

    /// Sends a message without an answer: it may get lost, be late, or arrive several times.
    pub(super) fn scatter(
        &self,
        message: &Message,
        agenda: &mut Agenda,
        faults: &Faults,
        random: &mut Random,
    ) {
        if let Some(delay) = self.delay(agenda.now, faults, random) {
            agenda.after(delay, Item::ToBackend(message.clone()));
        }
        if random.happens(faults.repeat) && agenda.now >= self.gone_until {
            let delay = random.between(10, 400 * SECOND);
            agenda.after(delay, Item::ToBackend(message.clone()));
        }
    }
}
