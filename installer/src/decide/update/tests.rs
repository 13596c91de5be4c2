//! Accepted and declined updates, and a power cut between any two steps.

use link_protocol::release::{Channel, SCHEMA as RELEASE_SCHEMA};
use proptest::prelude::*;

use super::*;

fn version(patch: u64) -> Version {
    Version::new(1, 3, patch)
}

fn manifest(patch: u64, counter: u64) -> Manifest {
    Manifest {
        schema: RELEASE_SCHEMA,
        version: version(patch),
        channel: Channel::Stable,
        released_at: day("2026-11-01"),
        expires_at: day("2027-11-01"),
        counter,
        archives: Vec::new(),
    }
}

fn decide_at(
    state: &UpdateState,
    wanted: &Wanted,
    manifest: &Manifest,
    now: Timestamp,
) -> Result<(), Declined> {
    let installed = Installed { version: &version(1), counter: Some(5), channel: Channel::Beta };
    decide(state, installed, wanted, manifest, now)
}

fn day(text: &str) -> Timestamp {
    format!("{text}T00:00:00Z").parse().unwrap()
}

#[test]
fn a_newer_release_is_installed_and_everything_else_is_declined_with_its_reason() {
    let fresh = UpdateState::default();
    let now = day("2026-11-21");
    let newest = Wanted::default();
    let asked = |patch| Wanted { version: Some(version(patch)), ..Wanted::default() };
    assert_eq!(decide_at(&fresh, &newest, &manifest(2, 6), now), Ok(()));
    assert_eq!(decide_at(&fresh, &asked(2), &manifest(2, 6), now), Ok(()));
    let declined = |state: &UpdateState, wanted: &Wanted, offered: &Manifest, now| {
        decide_at(state, wanted, offered, now).unwrap_err()
    };
    assert_eq!(declined(&fresh, &newest, &manifest(1, 9), now), Declined::UpToDate(version(1)));
    assert_eq!(declined(&fresh, &asked(1), &manifest(2, 6), now), Declined::UpToDate(version(1)));
    assert_eq!(
        declined(&fresh, &asked(3), &manifest(2, 6), now),
        Declined::NotPublished { wanted: version(3), newest: version(2) }
    );
    let older = Declined::Downgrade { installed: version(1), offered: version(0) };
    assert_eq!(declined(&fresh, &newest, &manifest(0, 4), now), older);
    let late = day("2030-01-01");
    assert_eq!(declined(&fresh, &newest, &manifest(2, 6), late), Declined::Expired);

    let alpha = Manifest { channel: Channel::Alpha, ..manifest(2, 6) };
    let less = Declined::LessTried { version: version(2), channel: Channel::Alpha };
    assert_eq!(declined(&fresh, &newest, &alpha, now), less);
    let asked_for = Wanted { channel: Some(Channel::Alpha), ..newest.clone() };
    assert_eq!(decide_at(&fresh, &asked_for, &alpha, now), Ok(()));

    let bad = fresh.skip(&version(2), "it ended".to_owned());
    let skipped = Declined::Skipped { version: version(2), reason: "it ended".to_owned() };
    assert_eq!(declined(&bad, &newest, &manifest(2, 6), now), skipped);
    let again = Wanted { again: true, ..newest.clone() };
    assert_eq!(decide_at(&bad, &again, &manifest(2, 6), now), Ok(()));
    assert_eq!(decide_at(&bad, &newest, &manifest(3, 7), now), Ok(()));
    let pending = written(&fresh.swap(&version(1), &version(2)));
    let on_trial = Declined::OnTrial(version(2));
    assert_eq!(declined(&pending, &newest, &manifest(3, 7), now), on_trial);
    let runs = Installed { version: &version(2), counter: Some(6), channel: Channel::Stable };
    let declined_on_trial = |wanted: &Wanted, manifest: &Manifest| {
        decide(&pending, runs, wanted, manifest, now).unwrap_err()
    };
    let up_to_date = Declined::UpToDate(version(2));
    assert_eq!(declined_on_trial(&newest, &manifest(2, 6)), up_to_date);
    assert_eq!(declined_on_trial(&asked(2), &manifest(3, 7)), up_to_date);
    assert_eq!(declined_on_trial(&newest, &manifest(3, 7)), on_trial);
    assert_eq!(declined_on_trial(&asked(1), &manifest(2, 6)), on_trial);
}

#[test]
fn the_state_is_on_disk_before_the_pointer_moves() {
    let state = UpdateState::default();
    let [UpdateStep::Write(pending), UpdateStep::Point(to)] =
        &state.swap(&version(1), &version(2))[..]
    else {
        panic!("first the state, then the pointer");
    };
    assert_eq!((to, pending.found(to)), (&version(2), TrialState::Trial));
    let steps = pending.roll_back(failure(true));
    let [UpdateStep::Write(condemned), UpdateStep::Point(from), UpdateStep::Write(ended)] =
        &steps[..]
    else {
        panic!("first the reason, then the pointer, then the end");
    };
    assert_eq!(from, &version(1));
    assert!(matches!(condemned.found(&version(2)), TrialState::Unfinished(_)));
    assert_eq!(ended.found(from), TrialState::Nothing);
}

#[test]
fn a_version_that_is_rolled_back_without_a_fault_of_its_own_is_installed_again() {
    let pending = written(&UpdateState::default().swap(&version(1), &version(2)));
    let [blamed, innocent] = [true, false].map(|fault| written(&pending.roll_back(failure(fault))));
    let decide = |state: &UpdateState| {
        decide_at(state, &Wanted::default(), &manifest(2, 6), day("2026-11-21"))
    };
    assert!(matches!(decide(&blamed), Err(Declined::Skipped { .. })));
    assert_eq!(decide(&innocent), Ok(()));
    assert_eq!(innocent.last, blamed.last, "what became of it is told all the same");
}

#[test]
fn a_commit_keeps_two_versions_and_is_told_of() {
    let pending = written(&UpdateState::default().swap(&version(1), &version(2)));
    let committed = pending.commit().unwrap();
    assert_eq!(committed.kept(&version(2)), [&version(2), &version(1)]);
    let last = committed.last.clone().unwrap();
    assert_eq!((last.outcome, last.reason), (UpdateEnd::Committed, None));
    assert_eq!(committed.commit(), None, "nothing is pending any more");
}

fn failure(is_its_fault: bool) -> TrialFailure {
    TrialFailure { reason: "it ended".to_owned(), is_its_fault }
}

/// Returns the last state that `steps` write.
fn written(steps: &[UpdateStep]) -> UpdateState {
    let mut writes = steps.iter().filter_map(|step| match step {
        UpdateStep::Write(state) => Some(&**state),
        UpdateStep::Point(_) => None,
    });
    writes.next_back().unwrap().clone()
}

/// A disk that loses power.
#[derive(Clone)]
struct Disk {
    state: UpdateState,
    current: Version,
}

impl Disk {
    /// Runs the first `count` steps.
    fn apply(&mut self, steps: &[UpdateStep], count: usize) {
        for step in steps.iter().take(count) {
            match step.clone() {
                UpdateStep::Write(state) => self.state = *state,
                UpdateStep::Point(version) => self.current = version,
            }
        }
    }

    /// Does what the guard does at its start. Returns whether a version is on trial.
    fn start(&mut self) -> bool {
        match self.state.found(&self.current) {
            TrialState::Nothing => false,
            TrialState::Trial => true,
            TrialState::Unfinished(steps) => {
                let count = steps.len();
                self.apply(&steps, count);
                assert_eq!(self.state.found(&self.current), TrialState::Nothing, "it is resolved");
                false
            }
        }
    }
}

proptest! {
    /// After a power cut at any step, the guard finds either the old version, or the new one on
    /// trial. A version that was rolled back never runs again.
    #[test]
    fn a_power_cut_between_any_two_steps_is_resolved(
        swapped in 0usize..=2, rolled_back in proptest::option::of(0usize..=3), state_first: bool,
        is_its_fault: bool,
    ) {
        let state = if state_first {
            UpdateState::default().skip(&version(9), "old".to_owned())
        } else {
            UpdateState::default()
        };
        let mut disk = Disk { state, current: version(1) };
        let steps = disk.state.swap(&version(1), &version(2));
        disk.apply(&steps, swapped);
        let on_trial = disk.start();
        prop_assert_eq!(on_trial, swapped == 2);
        prop_assert_eq!(disk.current == version(2), on_trial);
        if let (true, Some(done)) = (on_trial, rolled_back) {
            let steps = disk.state.roll_back(failure(is_its_fault));
            disk.apply(&steps, done);
            let still_on_trial = disk.start();
            prop_assert_eq!(still_on_trial, done == 0);
            if !still_on_trial {
                prop_assert_eq!(&disk.current, &version(1));
                let is_skipped = disk.state.skipped.iter().any(|bad| bad.version == version(2));
                prop_assert_eq!(is_skipped, is_its_fault);
                let last = disk.state.last.clone().unwrap();
                prop_assert_eq!(last.outcome, UpdateEnd::RolledBack);
            }
        }
    }
}
