//! What the guard decides: it keeps the agent running, ends it when it is told to, and keeps or takes
//! back a version on trial.
//!
//! An agent that ends is started again after a wait that grows with each quick end and starts anew
//! once it has run for a while. A version on trial that ends with a failure is rolled back at once;
//! at the end of its window it is kept if it was well a moment ago, and rolled back if not. Told to
//! stop, the guard asks the agent, then kills it, and starts nothing any more. Pure: the shell is the
//! program `link-guard`.

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

/// A version that was well this long ago, at the end of its window, is kept.
pub const FRESH: Duration = Duration::from_secs(30);

/// The guard.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Guard {
    phase: Phase,
    /// Quick ends in a row.
    quick_ends: usize,
    /// How long a version is on trial.
    window: Duration,
    trial: Option<Trial>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Phase {
    Running { since: Now },
    Waiting { until: Now },
    Stopping { kill_at: Now, killed: bool },
    Ended,
}

/// A version on trial.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Trial {
    until: Now,
    /// It has started: until then an end may be that of the version before.
    started: bool,
    well_at: Option<Now>,
    /// It was not well at the end, and has been killed for it.
    condemned: bool,
}

/// What happened.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Event {
    /// The agent ended, or could not be started; `failed` unless it ended with success.
    AgentEnded { failed: bool },
    /// A version on trial was found; `started` unless it is about to take over the process.
    OnTrial { started: bool },
    /// The version on trial runs.
    Runs,
    /// It has shown that it is well.
    Well,
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
    /// Keep the version on trial.
    Commit,
    /// Put the version before back in its place.
    RollBack(Fault),
    /// End the guard.
    Finish,
}

/// Why a version is rolled back.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fault {
    /// It ended, by itself or by a signal.
    Ended,
    /// It was not well at the end of its window.
    NotWell,
}

impl Guard {
    /// Starts to guard: the agent is started first of all.
    #[must_use]
    pub const fn new(now: Now, window: Duration) -> (Self, Effect) {
        let phase = Phase::Running { since: now };
        (Self { phase, quick_ends: 0, window, trial: None }, Effect::StartAgent)
    }

    /// Applies `event` and returns the effects that must run, in their order.
    #[must_use]
    pub fn handle(&mut self, event: Event, now: Now) -> Vec<Effect> {
        match event {
            Event::AgentEnded { failed } => self.agent_ended(failed, now),
            Event::OnTrial { started } => {
                let until = now + self.window;
                let trial = Trial { until, started, well_at: None, condemned: false };
                self.trial.get_or_insert(trial);
                Vec::new()
            }
            Event::Runs | Event::Well => {
                if let Some(trial) = &mut self.trial {
                    trial.started = true;
                    trial.well_at = if event == Event::Well { Some(now) } else { trial.well_at };
                }
                Vec::new()
            }
            Event::StopRequested => self.stop_requested(now),
            Event::DeadlineReached => self.deadline_reached(now),
        }
    }

    /// When to send the next [`Event::DeadlineReached`], if at all.
    #[must_use]
    pub fn deadline(&self) -> Option<Now> {
        let phase = match self.phase {
            Phase::Waiting { until } => Some(until),
            Phase::Stopping { kill_at, killed: false } => Some(kill_at),
            Phase::Running { .. } | Phase::Stopping { killed: true, .. } | Phase::Ended => None,
        };
        [phase, self.window_ends()].into_iter().flatten().min()
    }

    /// Tells whether there should be an agent at this moment.
    #[must_use]
    pub const fn expects_agent(&self) -> bool {
        match self.phase {
            Phase::Running { .. } | Phase::Stopping { .. } => true,
            Phase::Waiting { .. } | Phase::Ended => false,
        }
    }

    /// Tells whether a version is on trial.
    #[must_use]
    pub const fn has_trial(&self) -> bool {
        self.trial.is_some()
    }

    /// When the window ends, unless its end has come or the guard stops: then the next start of the
    /// guard decides.
    fn window_ends(&self) -> Option<Now> {
        let open = matches!(self.phase, Phase::Running { .. } | Phase::Waiting { .. });
        self.trial.as_ref().filter(|trial| open && !trial.condemned).map(|trial| trial.until)
    }

    fn agent_ended(&mut self, failed: bool, now: Now) -> Vec<Effect> {
        match self.phase {
            Phase::Running { since } => {
                match &mut self.trial {
                    Some(Trial { condemned: true, .. }) => {
                        return self.roll_back(Fault::NotWell, now);
                    }
                    Some(Trial { started: true, .. }) if failed => {
                        return self.roll_back(Fault::Ended, now);
                    }
                    Some(trial) => trial.started = true,
                    None => {}
                }
                if now.saturating_sub(since) >= SETTLED {
                    self.quick_ends = 0;
                }
                let wait = BACK_OFF[self.quick_ends.min(BACK_OFF.len() - 1)];
                self.quick_ends += 1;
                self.phase = Phase::Waiting { until: now + wait };
                Vec::new()
            }
            Phase::Stopping { .. } => {
                self.phase = Phase::Ended;
                vec![Effect::Finish]
            }
            Phase::Waiting { .. } | Phase::Ended => Vec::new(),
        }
    }

    fn roll_back(&mut self, fault: Fault, now: Now) -> Vec<Effect> {
        self.trial = None;
        self.quick_ends = 0;
        self.phase = Phase::Running { since: now };
        vec![Effect::RollBack(fault), Effect::StartAgent]
    }

    fn stop_requested(&mut self, now: Now) -> Vec<Effect> {
        match self.phase {
            Phase::Running { .. } => {
                self.phase = Phase::Stopping { kill_at: now + PATIENCE, killed: false };
                vec![Effect::TerminateAgent]
            }
            Phase::Waiting { .. } => {
                self.phase = Phase::Ended;
                vec![Effect::Finish]
            }
            Phase::Stopping { .. } | Phase::Ended => Vec::new(),
        }
    }

    fn deadline_reached(&mut self, now: Now) -> Vec<Effect> {
        if self.window_ends().is_some_and(|end| end <= now) {
            return self.end_window(now);
        }
        match self.phase {
            Phase::Waiting { until } if until <= now => {
                self.phase = Phase::Running { since: now };
                vec![Effect::StartAgent]
            }
            Phase::Stopping { kill_at, killed: false } if kill_at <= now => {
                self.phase = Phase::Stopping { kill_at, killed: true };
                vec![Effect::KillAgent]
            }
            Phase::Running { .. }
            | Phase::Waiting { .. }
            | Phase::Stopping { .. }
            | Phase::Ended => Vec::new(),
        }
    }

    fn end_window(&mut self, now: Now) -> Vec<Effect> {
        let Some(trial) = &mut self.trial else { return Vec::new() };
        let runs = matches!(self.phase, Phase::Running { .. });
        let is_well = trial.well_at.is_some_and(|at| now.saturating_sub(at) <= FRESH);
        if runs && is_well {
            self.trial = None;
            vec![Effect::Commit]
        } else if runs {
            trial.condemned = true;
            vec![Effect::KillAgent]
        } else {
            self.roll_back(Fault::NotWell, now)
        }
    }
}

#[cfg(test)]
mod tests;
