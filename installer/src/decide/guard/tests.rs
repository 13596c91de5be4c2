//! Restarts, stops, and a version on trial whose agent ends, hangs, or proves healthy.

use proptest::prelude::*;

use super::*;

const WINDOW: Duration = Duration::from_secs(120);
const ENDED: Event = Event::AgentEnded(End::Failed);

fn guard() -> Guard {
    let (guard, first) = Guard::new(Duration::ZERO, Limits::default());
    assert_eq!(first, Effect::StartAgent);
    guard
}

/// A guard whose agent has run for an hour and was just replaced by another version.
fn on_trial() -> (Guard, Now) {
    let (mut guard, now) = (guard(), Duration::from_secs(3600));
    assert_eq!(guard.handle(Event::OnTrial { started: false }, now), []);
    assert_eq!(guard.handle(Event::Runs, now), []);
    assert_eq!(guard.deadline(), Some(now + WINDOW), "and no silence matters");
    (guard, now)
}

#[test]
fn an_agent_that_ends_again_and_again_is_started_with_growing_waits() {
    let mut guard = guard();
    let mut now = Duration::ZERO;
    for wait in BACK_OFF.into_iter().chain([BACK_OFF[4]]) {
        assert_eq!(guard.handle(ENDED, now), []);
        assert_eq!(guard.deadline(), Some(now + wait));
        assert_eq!(guard.handle(Event::DeadlineReached, now), []);
        now += wait;
        assert_eq!(guard.handle(Event::DeadlineReached, now), [Effect::StartAgent]);
    }
}

#[test]
fn an_agent_that_ran_for_a_while_is_started_again_after_the_first_wait() {
    let mut guard = guard();
    assert_eq!(guard.handle(ENDED, SETTLED / 2), []);
    let restart = guard.deadline().unwrap();
    assert_eq!(guard.handle(Event::DeadlineReached, restart), [Effect::StartAgent]);
    assert_eq!(guard.handle(ENDED, restart + SETTLED), []);
    assert_eq!(guard.deadline(), Some(restart + SETTLED + BACK_OFF[0]));
}

#[test]
fn a_stop_asks_then_kills_and_starts_nothing_any_more() {
    let mut guard = guard();
    assert_eq!(guard.handle(Event::StopRequested, BACK_OFF[0]), [Effect::TerminateAgent]);
    assert_eq!(guard.handle(Event::StopRequested, BACK_OFF[0]), []);
    let kill_at = BACK_OFF[0] + PATIENCE;
    assert_eq!(guard.handle(Event::DeadlineReached, kill_at), [Effect::KillAgent(Cause::GoesOn)]);
    assert_eq!(guard.deadline(), None);
    assert_eq!(guard.handle(ENDED, kill_at), [Effect::Finish]);
    assert_eq!(guard.handle(Event::DeadlineReached, kill_at * 9), []);
}

#[test]
fn a_stop_while_the_agent_is_down_ends_the_guard_at_once() {
    let mut guard = guard();
    assert_eq!(guard.handle(ENDED, Duration::ZERO), []);
    assert_eq!(guard.handle(Event::StopRequested, Duration::ZERO), [Effect::Finish]);
}

#[test]
fn a_version_on_trial_that_ends_with_a_failure_is_rolled_back_at_once() {
    let ends = [(End::Failed, Fault::Ended), (End::PortTaken, Fault::PortTaken)];
    for (end, fault) in ends {
        let (mut guard, now) = on_trial();
        let back = [Effect::RollBack(fault), Effect::StartAgent];
        assert_eq!(guard.handle(Event::AgentEnded(end), now + WINDOW / 2), back);
        let silence = now + WINDOW / 2 + SILENCE;
        assert_eq!((guard.has_trial(), guard.deadline()), (false, Some(silence)));
    }
}

#[test]
fn an_agent_that_is_silent_is_killed_and_started_again() {
    for spoke_at in [None, Some(SETTLED * 5)] {
        let mut guard = guard();
        if let Some(at) = spoke_at {
            assert_eq!(guard.handle(Event::Heard, at), []);
        }
        let suspected = spoke_at.unwrap_or_default() + SILENCE;
        assert_eq!(guard.deadline(), Some(suspected));
        assert_eq!(guard.handle(Event::DeadlineReached, suspected), []);
        let over = suspected + SILENCE / HEARING;
        assert_eq!(guard.deadline(), Some(over));
        let kill = [Effect::KillAgent(Cause::Silent)];
        assert_eq!(guard.handle(Event::DeadlineReached, over), kill);
        assert_eq!(guard.deadline(), None, "it is killed once");
        assert_eq!(guard.handle(ENDED, over), []);
        let restart = over + BACK_OFF[0];
        assert_eq!(guard.handle(Event::DeadlineReached, restart), [Effect::StartAgent]);
        assert_eq!(guard.deadline(), Some(restart + SILENCE));
    }
}

/// After a suspension of the machine or of the guard, the guard reads the reports of the agent
/// late.
#[test]
fn an_agent_that_is_heard_once_the_guard_goes_on_is_left_alone() {
    let mut guard = guard();
    let woken = SILENCE * 50;
    assert_eq!(guard.handle(Event::DeadlineReached, woken), []);
    let heard = woken + SILENCE / HEARING / 2;
    assert_eq!(guard.handle(Event::Heard, heard), []);
    assert_eq!(guard.handle(Event::DeadlineReached, woken + SILENCE / HEARING), []);
    assert_eq!(guard.deadline(), Some(heard + SILENCE));
}

#[test]
fn silence_does_not_matter_where_nobody_is_heard_or_in_a_stop_or_a_wait() {
    let deaf = Limits { silence: None, ..Limits::default() };
    assert_eq!(Guard::new(Duration::ZERO, deaf).0.deadline(), None);
    let mut guard = guard();
    assert_eq!(guard.handle(ENDED, Duration::ZERO), []);
    assert_eq!(guard.deadline(), Some(BACK_OFF[0]));
    let mut guard = self::guard();
    assert_eq!(guard.handle(Event::StopRequested, SILENCE), [Effect::TerminateAgent]);
    assert_eq!(guard.deadline(), Some(SILENCE + PATIENCE));
}

#[test]
fn the_hearing_is_longer_than_a_few_beats() {
    assert!(SILENCE / HEARING >= link_protocol::guard_line::BEAT * 4);
}

/// The previous version may have been killed just before its replacement.
#[test]
fn an_end_before_the_new_version_has_started_is_no_fault_of_it_but_the_next_is() {
    let (mut guard, now) = (guard(), SETTLED);
    assert_eq!(guard.handle(Event::OnTrial { started: false }, now), []);
    assert_eq!(guard.handle(ENDED, now), []);
    assert_eq!(guard.handle(Event::DeadlineReached, now + BACK_OFF[0]), [Effect::StartAgent]);
    let back = [Effect::RollBack(Fault::Ended), Effect::StartAgent];
    assert_eq!(guard.handle(ENDED, now + BACK_OFF[1]), back);
}

/// 120 s, as the specification says, whatever the guard's own constant.
// Holds: S8-8
#[test]
fn a_version_that_ends_within_120_seconds_is_rolled_back_and_later_it_is_not() {
    let (mut guard, now) = on_trial();
    let back = [Effect::RollBack(Fault::Ended), Effect::StartAgent];
    assert_eq!(guard.handle(ENDED, now + Duration::from_millis(119_999)), back);
    let (mut guard, now) = on_trial();
    let end = now + Duration::from_secs(120);
    assert_eq!(guard.handle(Event::Well, now + Duration::from_secs(119)), []);
    assert_eq!(guard.handle(Event::DeadlineReached, end), [Effect::Commit]);
    assert_eq!(guard.handle(ENDED, end), []);
}

#[test]
fn a_version_that_ends_after_its_window_is_only_started_again() {
    let (mut guard, now) = on_trial();
    assert_eq!(guard.handle(Event::Well, now + WINDOW), []);
    assert_eq!(guard.handle(Event::DeadlineReached, now + WINDOW), [Effect::Commit]);
    assert_eq!(guard.handle(ENDED, now + WINDOW), []);
    assert!(guard.deadline().is_some());
}

#[test]
fn a_version_that_is_not_well_at_the_end_is_killed_and_rolled_back() {
    for well_at in [None, Some(WINDOW - FRESH * 2)] {
        let (mut guard, now) = on_trial();
        if let Some(at) = well_at {
            assert_eq!(guard.handle(Event::Well, now + at), []);
        }
        let kill = [Effect::KillAgent(Cause::NotWell)];
        assert_eq!(guard.handle(Event::DeadlineReached, now + WINDOW), kill);
        assert_eq!(guard.deadline(), None);
        let back = [Effect::RollBack(Fault::NotWell), Effect::StartAgent];
        assert_eq!(guard.handle(ENDED, now + WINDOW), back);
    }
}

#[test]
fn a_version_that_ends_in_good_order_is_started_again_and_must_be_well_at_the_end() {
    let (mut guard, now) = on_trial();
    assert_eq!(guard.handle(Event::AgentEnded(End::InOrder), now + WINDOW), []);
    let back = [Effect::RollBack(Fault::NotWell), Effect::StartAgent];
    assert_eq!(guard.handle(Event::DeadlineReached, now + WINDOW), back);
}

#[test]
fn a_stop_within_the_window_decides_nothing() {
    let (mut guard, now) = on_trial();
    assert_eq!(guard.handle(Event::StopRequested, now), [Effect::TerminateAgent]);
    assert_eq!(guard.handle(ENDED, now), [Effect::Finish]);
    assert!(guard.has_trial());
}

proptest! {
    /// At most one agent runs, none is started after a request to stop, and a version is committed
    /// or rolled back at most once for each trial.
    #[test]
    fn no_sequence_starts_a_second_agent_or_one_after_a_stop(steps: Vec<(u8, u16)>) {
        let mut now = Duration::ZERO;
        let mut guard = guard();
        let (mut running, mut stopped, mut trial) = (true, false, false);
        for (event, seconds) in steps {
            now += Duration::from_secs(u64::from(seconds % 200));
            let event = [
                Event::AgentEnded(if event % 2 == 0 { End::Failed } else { End::PortTaken }),
                Event::StopRequested,
                Event::DeadlineReached,
                Event::OnTrial { started: event % 2 == 0 },
                Event::Well,
                Event::Heard,
            ][usize::from(event % 6)];
            if matches!(event, Event::AgentEnded(_)) && !running {
                continue;
            }
            running &= !matches!(event, Event::AgentEnded(_));
            stopped |= event == Event::StopRequested;
            trial |= matches!(event, Event::OnTrial { .. });
            for effect in guard.handle(event, now) {
                match effect {
                    Effect::StartAgent => {
                        prop_assert!(!running && !stopped);
                        running = true;
                    }
                    Effect::Commit | Effect::RollBack(_) => {
                        prop_assert!(trial);
                        trial = false;
                    }
                    Effect::KillAgent(_) => prop_assert!(running),
                    Effect::TerminateAgent | Effect::Finish => {}
                }
            }
        }
    }
}
