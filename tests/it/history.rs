//! Randomised faults against the real backend, and then a check of everything that was seen: no
//! command that was accepted is lost, no effect is applied twice, and the rest of the rules of
//! `link_load::history`.
//!
//! The backend is a process that is killed; connections are cut and answers lost by a proxy; the
//! devices repeat deliveries, lose receipts and start again. One seed decides all of it. Over zenoh
//! the way to the router breaks as well.

#![expect(clippy::print_stderr, reason = "tells what a run has done")]

mod proxy;
mod run;

use link_load::{
    device::Flaw,
    history::{self, Violation, What},
};
use link_protocol::envelope::ReceiptKind;

use self::run::Over;

/// Seeds of the short runs.
const SEEDS: std::ops::Range<u64> = 1..4;
/// Seeds when `LINK_TEST_FULL` is set.
const MORE_SEEDS: std::ops::Range<u64> = 1..40;

#[tokio::test]
async fn whatever_breaks_no_accepted_command_is_lost_and_none_takes_effect_twice() {
    holds(Over::Http).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_breaks_over_zenoh_no_accepted_command_is_lost_and_none_takes_effect_twice() {
    holds(Over::Zenoh).await;
}

#[tokio::test]
async fn a_device_that_applies_a_duplicate_again_is_caught() {
    let mut found = Vec::new();
    for seed in SEEDS {
        found = history::check(&run::run(Over::Http, seed, Some(Flaw::RepeatsEffects)).await);
        if found.iter().any(|one| matches!(one, Violation::EffectedTwice { .. })) {
            return;
        }
    }
    panic!("nothing was caught: {}", told(&found));
}

#[tokio::test]
async fn a_backend_that_lost_an_accepted_command_is_caught() {
    let mut events = run::run(Over::Http, 2, None).await;
    let place = events.iter().position(|event| matches!(event.what, What::Observed { .. }));
    let lost = &mut events[place.unwrap()];
    let command = lost.what.command().unwrap();
    lost.what = What::Missing { command };
    let device = lost.device;
    assert_eq!(history::check(&events), [Violation::Lost { device, command }]);
}

/// Lets things break, seed by seed, and checks what was seen.
async fn holds(over: Over) {
    let full = std::env::var_os("LINK_TEST_FULL").is_some();
    let mut all_repeated = 0;
    for seed in if full { MORE_SEEDS } else { SEEDS } {
        let events = run::run(over, seed, None).await;
        let count =
            |wanted: fn(&What) -> bool| events.iter().filter(|event| wanted(&event.what)).count();
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
        eprintln!(
            "seed {seed}: {accepted} accepted, {effects} effects, {repeated} were known to the device, {} \
             events",
            events.len()
        );
        assert!(accepted > 10 && effects > 10, "the run has done something");
        all_repeated += repeated;
        let found = history::check(&events);
        assert!(found.is_empty(), "seed {seed}: {}", told(&found));
    }
    assert!(all_repeated > 0, "something was delivered again");
}

fn told(found: &[Violation]) -> String {
    found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
