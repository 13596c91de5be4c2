//! What the guard decides: it keeps the agent running, and ends it when it is told to.
//!
//! An agent that ends is started again after a wait that grows with each quick end and starts anew
//! once it has run for a while. Told to stop, the guard asks the agent, then kills it, and starts
//! nothing any more. Pure: the shell is the program `link-guard`.

use std::time::Duration;

/// Time since the guard started.
pub type Now = Duration;

/// Waits before the agent is started again; the last one repeats.
pub const BACK_OFF: [Duration; 5] = [
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(5),
    Duration::from_secs(15),
    Duration::from_secs(60),
];

/// An agent that ran for this long did not end quickly.
pub const SETTLED: Duration = Duration::from_secs(60);

/// How long the agent may take to end when it is asked to.
pub const PATIENCE: Duration = Duration::from_secs(15);

/// The guard.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Guard {
    phase: Phase,
    /// Quick ends in a row.
    quick_ends: usize,
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Phase {
    Running { since: Now },
    Waiting { until: Now },
    Stopping { kill_at: Now, killed: bool },
    Ended,
}

/// What happened.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Event {
    /// The agent ended, or could not be started.
    AgentEnded,
    /// The guard was told to stop.
    StopRequested,
    /// The time that [`Guard::deadline`] named has come.
    DeadlineReached,
}

/// What the shell must do next.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Effect {
    StartAgent,
    /// Ask the agent to end.
    TerminateAgent,
    KillAgent,
    /// End the guard.
    Finish,
}

impl Guard {
    /// Starts to guard: the agent is started first of all.
    #[must_use]
    pub const fn new(now: Now) -> (Self, Effect) {
        (Self { phase: Phase::Running { since: now }, quick_ends: 0 }, Effect::StartAgent)
    }

    /// Applies `event` and returns the effect that must run, if any.
    #[must_use]
    pub fn handle(&mut self, event: Event, now: Now) -> Option<Effect> {
        match event {
            Event::AgentEnded => self.agent_ended(now),
            Event::StopRequested => self.stop_requested(now),
            Event::DeadlineReached => self.deadline_reached(now),
        }
    }

    /// When to send the next [`Event::DeadlineReached`], if at all.
    #[must_use]
    pub const fn deadline(&self) -> Option<Now> {
        match self.phase {
            Phase::Waiting { until } => Some(until),
            Phase::Stopping { kill_at, killed: false } => Some(kill_at),
            Phase::Running { .. } | Phase::Stopping { killed: true, .. } | Phase::Ended => None,
        }
    }

    /// Tells whether there should be an agent at this moment.
    #[must_use]
    pub const fn expects_agent(&self) -> bool {
        match self.phase {
            Phase::Running { .. } | Phase::Stopping { .. } => true,
            Phase::Waiting { .. } | Phase::Ended => false,
        }
    }

    fn agent_ended(&mut self, now: Now) -> Option<Effect> {
        match self.phase {
            Phase::Running { since } => {
                if now.saturating_sub(since) >= SETTLED {
                    self.quick_ends = 0;
                }
                let wait = BACK_OFF[self.quick_ends.min(BACK_OFF.len() - 1)];
                self.quick_ends += 1;
                self.phase = Phase::Waiting { until: now + wait };
                None
            }
            Phase::Stopping { .. } => {
                self.phase = Phase::Ended;
                Some(Effect::Finish)
            }
            Phase::Waiting { .. } | Phase::Ended => None,
        }
    }

    fn stop_requested(&mut self, now: Now) -> Option<Effect> {
        match self.phase {
            Phase::Running { .. } => {
                self.phase = Phase::Stopping { kill_at: now + PATIENCE, killed: false };
                Some(Effect::TerminateAgent)
            }
            Phase::Waiting { .. } => {
                self.phase = Phase::Ended;
                Some(Effect::Finish)
            }
            Phase::Stopping { .. } | Phase::Ended => None,
        }
    }

    fn deadline_reached(&mut self, now: Now) -> Option<Effect> {
        match self.phase {
            Phase::Waiting { until } if until <= now => {
                self.phase = Phase::Running { since: now };
                Some(Effect::StartAgent)
            }
            Phase::Stopping { kill_at, killed: false } if kill_at <= now => {
                self.phase = Phase::Stopping { kill_at, killed: true };
                Some(Effect::KillAgent)
            }
            Phase::Running { .. }
            | Phase::Waiting { .. }
            | Phase::Stopping { .. }
            | Phase::Ended => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_agent_that_ends_again_and_again_is_started_with_growing_waits() {
        let (mut guard, first) = Guard::new(Duration::ZERO);
        assert_eq!(first, Effect::StartAgent);
        let mut now = Duration::ZERO;
        for wait in BACK_OFF.into_iter().chain([BACK_OFF[4]]) {
            assert_eq!(guard.handle(Event::AgentEnded, now), None);
            assert_eq!(guard.deadline(), Some(now + wait));
            assert_eq!(guard.handle(Event::DeadlineReached, now), None);
            now += wait;
            assert_eq!(guard.handle(Event::DeadlineReached, now), Some(Effect::StartAgent));
        }
    }

    #[test]
    fn an_agent_that_ran_for_a_while_is_started_again_after_the_first_wait() {
        let (mut guard, _) = Guard::new(Duration::ZERO);
        assert_eq!(guard.handle(Event::AgentEnded, SETTLED / 2), None);
        let restart = guard.deadline().unwrap();
        assert_eq!(guard.handle(Event::DeadlineReached, restart), Some(Effect::StartAgent));
        assert_eq!(guard.handle(Event::AgentEnded, restart + SETTLED), None);
        assert_eq!(guard.deadline(), Some(restart + SETTLED + BACK_OFF[0]));
    }

    #[test]
    fn a_stop_asks_then_kills_and_starts_nothing_any_more() {
        let (mut guard, _) = Guard::new(Duration::ZERO);
        assert_eq!(guard.handle(Event::StopRequested, BACK_OFF[0]), Some(Effect::TerminateAgent));
        assert_eq!(guard.handle(Event::StopRequested, BACK_OFF[0]), None);
        let kill_at = BACK_OFF[0] + PATIENCE;
        assert_eq!(guard.handle(Event::DeadlineReached, kill_at), Some(Effect::KillAgent));
        assert_eq!(guard.deadline(), None);
        assert_eq!(guard.handle(Event::AgentEnded, kill_at), Some(Effect::Finish));
        assert_eq!(guard.handle(Event::DeadlineReached, kill_at * 9), None);
    }

    #[test]
    fn a_stop_while_the_agent_is_down_ends_the_guard_at_once() {
        let (mut guard, _) = Guard::new(Duration::ZERO);
        assert_eq!(guard.handle(Event::AgentEnded, Duration::ZERO), None);
        assert_eq!(guard.handle(Event::StopRequested, Duration::ZERO), Some(Effect::Finish));
    }

    proptest! {
        /// At most one agent runs, and none is started once a stop was requested.
        #[test]
        fn no_sequence_starts_a_second_agent_or_one_after_a_stop(
            steps: Vec<(u8, u16)>,
        ) {
            let mut now = Duration::ZERO;
            let (mut guard, _) = Guard::new(now);
            let (mut running, mut stopped) = (true, false);
            for (event, seconds) in steps {
                now += Duration::from_secs(u64::from(seconds));
                let event = [Event::AgentEnded, Event::StopRequested, Event::DeadlineReached]
                    [usize::from(event % 3)];
                if event == Event::AgentEnded && !running {
                    continue;
                }
                running &= event != Event::AgentEnded;
                stopped |= event == Event::StopRequested;
                if guard.handle(event, now) == Some(Effect::StartAgent) {
                    prop_assert!(!running && !stopped);
                    running = true;
                }
            }
        }
    }
}
