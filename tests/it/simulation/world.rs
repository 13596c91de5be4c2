//! One schedule: all events of a device and its backend, from one seed.

use link_agent_core::event::Event;
use link_protocol::id::DeviceId;
use uuid::Uuid;

use super::{
    backend::Backend,
    checks,
    device::{Around, Device},
    mutants::Mutant,
    network::{Agenda, Faults, Input, Item, Message, Ms, Network, SECOND},
    random::Random,
    tally::{Tally, Trace},
    user::{self, User},
};

const MINUTE: Ms = 60 * SECOND;
const HOUR: Ms = 60 * MINUTE;

/// The maximum length of the quiet phase, after which everything must be at rest.
const QUIET: Ms = 3 * HOUR;

/// A simulated world.
pub(super) struct World {
    agenda: Agenda,
    random: Random,
    faults: Faults,
    network: Network,
    backend: Backend,
    device: Device,
    user: User,
    tally: Tally,
    quiet_since: Option<Ms>,
    steps: u64,
    trace: Trace,
}

/// Runs the schedule of a seed. An error names the step and the violated condition.
pub(super) fn run(seed: u64, mutant: Mutant) -> Result<Tally, String> {
    let failed = |traced: bool| {
        let mut world = World::new(seed, mutant, traced);
        let outcome = world.run();
        outcome.map(|()| world.tally.clone()).map_err(|why| {
            let (step, at, trace) = (world.steps, world.agenda.now, &world.trace);
            format!("seed {seed}, step {step}, at {at} ms: {why}\n  after{trace}")
        })
    };
    // Recording the trace is slow, so only a schedule that has failed is run again with it.
    failed(false).or_else(|why| if mutant == Mutant::None { failed(true) } else { Err(why) })
}

impl World {
    fn new(seed: u64, mutant: Mutant, traced: bool) -> Self {
        let mut random = Random::new(seed);
        let id = DeviceId::from_uuid(Uuid::from_u128(1));
        let backend = Backend::new(id);
        let device = Device::new(id, backend.key().verifying().clone(), mutant);
        let faults = Faults::draw(&mut random);
        let mut agenda = Agenda::default();
        agenda.after(0, Item::Boot);
        agenda.after(30 * SECOND, Item::Sweep);
        let length = random.between(3 * MINUTE, 40 * MINUTE);
        for _ in 0..random.between(5, 45) {
            agenda.after(random.between(0, length), Item::Wish);
        }
        let mut sometimes = |most: u64, item: Item| {
            for _ in 0..random.between(0, most + 1) {
                agenda.after(random.between(0, length), item.clone());
            }
        };
        sometimes(4, Item::Crash);
        sometimes(2, Item::Suspend);
        sometimes(6, Item::Others);
        sometimes(2, Item::BackendRestart);
        sometimes(2, Item::Partition);
        sometimes(8, Item::Person);
        if random.happens(150) {
            agenda.after(random.between(0, length), Item::Registration);
        }
        agenda.after(length, Item::Quiet);
        Self {
            agenda,
            random,
            faults,
            network: Network::default(),
            backend,
            device,
            user: User::default(),
            tally: Tally { schedules: 1, ..Tally::default() },
            quiet_since: None,
            steps: 0,
            trace: Trace::new(traced),
        }
    }

    fn run(&mut self) -> Result<(), String> {
        while let Some(item) = self.agenda.next() {
            self.steps += 1;
            let (now, boot) = (self.agenda.now, self.device.boot);
            if concerns(&item, boot) {
                self.trace.note(|| format!("{now} ms: {item:?}"));
            }
            let sweeps = matches!(item, Item::Sweep);
            self.step(item)?;
            let Some(since) = self.quiet_since else { continue };
            let over = self.agenda.now > since + QUIET;
            if over || (sweeps && checks::is_at_rest(&self.device, &self.backend)) {
                break;
            }
        }
        checks::at_the_end(&self.device, &self.backend)?;
        let ended =
            self.backend.commands.iter().map(|record| format!("backend: {:?}", record.state));
        ended.for_each(|how| self.tally.end(&how));
        let ended =
            self.backend.deployments.iter().map(|one| format!("deployment: {:?}", one.state));
        ended.for_each(|how| self.tally.end(&how));
        Ok(())
    }

    fn step(&mut self, item: Item) -> Result<(), String> {
        let now = self.agenda.now;
        match item {
            Item::ToBackend(message) => self.at_backend(message),
            Item::ToDevice { boot, input } => return self.at_device(boot, input),
            Item::Boot => return self.with_device(Device::boot),
            Item::Crash => {
                return self.with_device(|device, around| {
                    device.crash(around);
                    Ok(())
                });
            }
            Item::Suspend => {
                let length = self.random.between(SECOND, 30 * MINUTE);
                let counted = self.random.happens(500);
                self.device.suspend(length, counted, now);
            }
            Item::Others => self.others(),
            Item::BackendRestart => {
                self.backend.parked = None;
                self.network.gone_until = self.network.gone_until.max(now + 20 * SECOND);
            }
            Item::Partition => {
                let long = self.random.happens(60);
                let most = if long { 26 * HOUR } else { 10 * MINUTE };
                let length = self.random.between(10 * SECOND, most);
                self.network.gone_until = self.network.gone_until.max(now + length);
            }
            Item::Registration => {
                self.backend.register(now);
                self.device.epoch = self.backend.epoch;
                return self.step(Item::Crash);
            }
            Item::Wish => {
                self.user.wish(&mut self.backend, &mut self.random, now);
                self.agenda.after(0, Item::Look);
            }
            Item::Person => {
                let wish = user::wish_at_the_machine(&mut self.random);
                let event = Event::Wished(wish);
                return self.at_device(self.device.boot, Input::Event(event));
            }
            Item::Sweep => {
                self.backend.sweep(now);
                self.agenda.after(30 * SECOND, Item::Sweep);
                self.agenda.after(0, Item::Look);
            }
            Item::Look => self.look(),
            Item::Quiet if now < self.network.gone_until => {
                self.agenda.after(self.network.gone_until - now, Item::Quiet);
            }
            Item::Quiet => {
                self.faults = Faults::default();
                self.device.foreign.clear();
                self.quiet_since = Some(now);
            }
        }
        Ok(())
    }

    fn with_device(
        &mut self,
        act: impl FnOnce(&mut Device, &mut Around<'_>) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut around = Around {
            agenda: &mut self.agenda,
            random: &mut self.random,
            faults: &self.faults,
            network: &self.network,
            tally: &mut self.tally,
            trace: &mut self.trace,
        };
        act(&mut self.device, &mut around)
    }

    fn at_device(&mut self, boot: u64, input: Input) -> Result<(), String> {
        if boot != self.device.boot {
            return Ok(());
        }
        let now = self.agenda.now;
        if now < self.device.frozen_until {
            self.agenda.input(self.device.frozen_until - now, boot, input);
            return Ok(());
        }
        let fate = matches!(input, Input::EngineDies { .. } | Input::EngineHangs { .. });
        if fate && self.quiet_since.is_some_and(|since| now > since + MINUTE) {
            return Ok(());
        }
        self.with_device(|device, around| device.take(input, around))
    }

    fn at_backend(&mut self, message: Message) {
        let now = self.agenda.now;
        if now < self.network.gone_until {
            if let Message::Report { boot, entry } = message {
                let event = Event::ReportDeferred { id: entry.id, retry_after: None };
                self.agenda.input(30 * SECOND, boot, Input::Event(event));
            }
            return;
        }
        match message {
            Message::Hello { boot, request, hello } => {
                let event = self.backend.hello(&hello, now, self.faults.spoil);
                self.answer(boot, request, event);
            }
            Message::Poll { boot, request, after } => self.backend.poll(boot, request, after, now),
            Message::Receipt(receipt) => self.backend.receipt(&receipt, now),
            Message::Report { boot, entry } => self.report(boot, entry),
            Message::Repeated(report) => self.backend.report(&report, now).unwrap_or_default(),
        }
        self.look();
    }

    fn report(&mut self, boot: u64, entry: link_agent_core::record::OutboxEntry) {
        use link_agent_core::record::Report;

        let (now, id) = (self.agenda.now, entry.id);
        if !entry.unauthorized && self.random.happens(self.faults.unauthorized) {
            // A device whose report gets a 401 also cannot poll: it sends a hello next.
            self.backend.parked = None;
            let event = Event::ReportUnauthorized { id, reason: "401".to_owned() };
            self.agenda.input(self.random.between(5, 300), boot, Input::Event(event));
            let wait = self.random.between(SECOND, 60 * SECOND);
            self.agenda.input(wait, boot, Input::Connect);
            return;
        }
        let taken = self.backend.report(&entry.report, now);
        if self.random.happens(self.faults.repeat) {
            let late = match entry.report {
                Report::Command(_) | Report::Progress { .. } => {
                    self.random.between(1, 300 * SECOND)
                }
                Report::Lifecycle(_) | Report::Model(_) => 0,
            };
            self.agenda.after(late, Item::ToBackend(Message::Repeated(entry.report)));
        }
        let event = match taken {
            Ok(()) => Event::ReportSent { id },
            Err(reason) => Event::ReportRefused { id, reason },
        };
        let lost = Event::ReportDeferred { id, retry_after: None };
        match self.network.delay(now, &self.faults, &mut self.random) {
            Some(delay) => self.agenda.input(delay, boot, Input::Event(event)),
            None => self.agenda.input(30 * SECOND, boot, Input::Event(lost)),
        }
    }

    fn look(&mut self) {
        if let Some((parked, event)) = self.backend.look(self.agenda.now, self.faults.spoil) {
            self.answer(parked.boot, parked.request, event);
        }
        if let Some(wait) = self.backend.next_look(self.agenda.now) {
            self.agenda.after(wait, Item::Look);
        }
    }

    /// Sends the answer to a request. It may contain the commands in another order, and forged
    /// ones.
    fn answer(&mut self, boot: u64, request: u64, mut event: Event) {
        let now = self.agenda.now;
        if let Event::Polled { commands, .. } = &mut event {
            if self.random.happens(self.faults.forge) {
                let how = self.random.number() % 1000;
                commands.push(self.backend.forge(how, now));
                self.tally.forged += 1;
            }
            if self.random.happens(self.faults.repeat) {
                self.random.shuffle(commands);
            }
        }
        if let Some(delay) = self.network.delay(now, &self.faults, &mut self.random) {
            self.agenda.input(delay, boot, Input::Answer { request, event });
        }
    }

    /// Makes another program take a free port, or free one.
    fn others(&mut self) {
        let port = user::any_port(&mut self.random);
        let free = !self.device.frontends.contains_key(&port);
        if !self.device.foreign.remove(&port) && free && self.quiet_since.is_none() {
            self.device.foreign.insert(port);
        }
    }
}

/// Returns whether a trace should show `item`.
fn concerns(item: &Item, boot: u64) -> bool {
    match item {
        Item::ToDevice { boot: other, input } => {
            *other == boot && !matches!(input, Input::Deadline)
        }
        Item::Look | Item::Sweep => false,
        Item::ToBackend(_)
        | Item::Boot
        | Item::Crash
        | Item::Suspend
        | Item::Others
        | Item::BackendRestart
        | Item::Partition
        | Item::Registration
        | Item::Wish
        | Item::Person
        | Item::Quiet => true,
    }
}
