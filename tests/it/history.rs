//! Random faults against the real backend, then a check of the recorded events: no accepted command is lost, no effect
//! is applied twice, and all other rules of `link_load::history` hold. A page that has followed the event stream shows what the
//! API says.
//!
//! The backend is a process that the test kills. A proxy cuts connections and loses answers. The devices repeat
//! deliveries, lose receipts and restart. One seed decides all of it. Over zenoh, the connection to the router breaks
//! as well. Two backends on one PostgreSQL database also lose their database, and one of them has a wrong clock.

#![expect(clippy::print_stderr, reason = "tells what a run has done")]

mod caller;
mod page;
mod replicas;
mod run;

use std::{
    collections::HashSet,
    ops::Range,
    time::{Duration, Instant},
};

use link_load::{
    device::Flaw,
    history::{self, Violation, What},
};
use link_protocol::{envelope::ReceiptKind, id::DeviceId};

use self::{
    page::{Differs, Slip},
    replicas::Size,
    run::{Over, Ran},
};
use crate::cluster::Cluster;

/// Seeds of the default run.
const SEEDS: Range<u64> = 1..4;
/// Seeds when `LINK_TEST_FULL` is set.
const MORE_SEEDS: Range<u64> = 1..40;

/// Seeds of the default run against two backends.
const REPLICA_SEEDS: Range<u64> = 1..3;
/// Seeds of both sizes when `LINK_TEST_FULL` is set.
const MORE_REPLICA_SEEDS: Range<u64> = 1..21;
const FEW: Size = Size {
    devices: 6,
    callers: 2,
    breaks_for: Duration::from_secs(4),
    pause: Duration::from_millis(500),
    accepts: 5,
    breaks: 0.5,
};
const MANY: Size = Size {
    devices: 2_000,
    callers: 8,
    breaks_for: Duration::from_secs(60),
    pause: Duration::from_secs(4),
    accepts: 100,
    breaks: 0.02,
};

#[tokio::test]
async fn whatever_breaks_no_accepted_command_is_lost_and_none_takes_effect_twice() {
    holds(Over::Http).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_breaks_over_zenoh_no_accepted_command_is_lost_and_none_takes_effect_twice() {
    holds(Over::Zenoh).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_breaks_with_two_backends_no_accepted_command_is_lost_and_none_takes_effect_twice()
{
    hold(FEW, if is_full() { MORE_REPLICA_SEEDS } else { REPLICA_SEEDS }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_breaks_two_backends_with_2000_devices_lose_nothing_and_repeat_nothing() {
    if !is_full() {
        eprintln!("skipped: LINK_TEST_FULL is not set");
        return;
    }
    link_platform::descriptors::raise_limit().unwrap();
    hold(MANY, MORE_REPLICA_SEEDS).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_two_backends_a_lost_command_and_a_repeated_effect_are_caught() {
    let Some(mut cluster) = Cluster::start() else { return };
    let flaw = Some(Flaw::RepeatsEffects);
    let found = history::check(&run::run_replicas(&mut cluster, FEW, 1, flaw, true).await.events);
    let lost = found.iter().filter(|one| matches!(one, Violation::Lost { .. })).count();
    let twice = found.iter().any(|one| matches!(one, Violation::EffectedTwice { .. }));
    assert!(lost == 1 && twice, "{}", told(&found));
}

#[tokio::test]
async fn a_device_that_applies_a_duplicate_again_is_caught() {
    let mut found = Vec::new();
    for seed in SEEDS {
        let flaw = Some(Flaw::RepeatsEffects);
        found = history::check(&run::run(Over::Http, seed, flaw, None).await.events);
        if found.iter().any(|one| matches!(one, Violation::EffectedTwice { .. })) {
            return;
        }
    }
    panic!("nothing was caught: {}", told(&found));
}

#[tokio::test]
async fn a_backend_that_lost_an_accepted_command_is_caught() {
    let mut events = run::run(Over::Http, 2, None, None).await.events;
    let place = events.iter().position(|event| matches!(event.what, What::Observed { .. }));
    let lost = &mut events[place.unwrap()];
    let command = lost.what.command().unwrap();
    lost.what = What::Missing { command };
    let device = lost.device;
    assert_eq!(history::check(&events), [Violation::Lost { device, command }]);
}

#[tokio::test]
async fn a_page_that_goes_on_without_what_it_has_missed_is_caught() {
    for seed in SEEDS {
        // It has loaded again, and what it got was old.
        let page = run::run(Over::Http, seed, None, Some(Slip::LoadsOnce)).await.page;
        if page.is_err_and(|differs| differs.trouble.loaded > 1) {
            return;
        }
    }
    panic!("nothing was caught");
}

/// Runs the faults with each seed, and checks the recorded events.
async fn holds(over: Over) {
    let mut met = Met::default();
    for seed in if is_full() { MORE_SEEDS } else { SEEDS } {
        met.add(sound(seed, run::run(over, seed, None, None).await));
    }
    met.check();
}

/// Like [`holds`], against two backends on one database. Does nothing if PostgreSQL is not installed.
async fn hold(size: Size, seeds: Range<u64>) {
    let Some(mut cluster) = Cluster::start() else { return };
    let mut met = Met::default();
    for seed in seeds {
        let begun = Instant::now();
        let ran = run::run_replicas(&mut cluster, size, seed, None, false).await;
        met.add(sound(seed, ran));
        eprintln!("seed {seed} took {:?}", begun.elapsed());
    }
    met.check();
}

/// What the runs of several seeds have met.
#[derive(Clone, Copy, Debug, Default)]
struct Met {
    /// Deliveries that were known to their device.
    repeated: usize,
    /// Cuts of the page's stream.
    cuts: usize,
}

impl Met {
    const fn add(&mut self, other: Self) {
        self.repeated += other.repeated;
        self.cuts += other.cuts;
    }

    /// Checks that there was something to stand.
    fn check(self) {
        assert!(self.repeated > 0, "something was delivered again");
        assert!(self.cuts > 0, "the stream of a page was cut");
    }
}

/// Checks the events and the page of a seed, and returns what they have met.
fn sound(seed: u64, ran: Ran) -> Met {
    let Ran { events, page } = ran;
    let page = page.unwrap_or_else(|Differs { what, trouble }| {
        panic!("seed {seed}: {what}, after {trouble:?}");
    });
    eprintln!(
        "seed {seed}: the page was cut {} times, opened its stream {} times and loaded {} times",
        page.cuts, page.opened, page.loaded
    );
    let count =
        |wanted: fn(&What) -> bool| events.iter().filter(|event| wanted(&event.what)).count();
    let devices: HashSet<DeviceId> = events.iter().map(|event| event.device).collect();
    let accepted = count(|what| matches!(what, What::Accepted { .. }));
    let effects = count(|what| matches!(what, What::Effected { .. }));
    let repeated = count(|what| match what {
        What::Receipted { receipt, .. } => {
            matches!(receipt, ReceiptKind::Duplicate | ReceiptKind::Done)
        }
        What::Accepted { .. }
        | What::Unanswered
        | What::Delivered { .. }
        | What::Effected { .. }
        | What::Resulted { .. }
        | What::Observed { .. }
        | What::Missing { .. } => false,
    });
    let unanswered = count(|what| matches!(what, What::Unanswered));
    eprintln!(
        "seed {seed}: {} devices, {accepted} accepted, {unanswered} unanswered, {effects} effects, {repeated} were \
         known to the device, {} events",
        devices.len(),
        events.len()
    );
    // Each device has a first deployment before anything breaks.
    let more = accepted.saturating_sub(devices.len());
    assert!(more > 10 && effects > 10, "the run has done something");
    let found = history::check(&events);
    assert!(found.is_empty(), "seed {seed}: {}", told(&found));
    Met { repeated, cuts: page.cuts }
}

fn is_full() -> bool {
    std::env::var_os("LINK_TEST_FULL").is_some()
}

fn told(found: &[Violation]) -> String {
    found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
