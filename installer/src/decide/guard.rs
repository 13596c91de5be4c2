//! The decisions of the guard: keep the agent running, stop it on request, and commit or roll back a version on trial.
//!
//! After the agent has ended, the guard restarts it. The delay grows with each quick end, and is reset once the agent
//! has run for a while. The guard kills an agent that is silent for too long. If the agent of a version on trial fails,
//! the guard rolls that version back at once. At the end of the trial it commits the version if the agent was healthy a
//! moment ago, and rolls it back otherwise. On a request to stop, the guard asks the agent to end, then kills it, and
//! restarts nothing. Pure: the shell is the program `link-guard`.

use std::time::Duration;

/// Time since the guard started.
pub type Now = Duration;

/// Delays before a restart of the agent. The last delay repeats.
pub const BACK_OFF: [Duration; 5] = [
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(5),
    Duration::from_secs(15),
    Duration::from_secs(60),
];

/// An agent that has run for this time and then ends does not count as a quick end.
pub const SETTLED: Duration = Duration::from_secs(60);

/// How long the agent may take to end after a request.
pub const PATIENCE: Duration = Duration::from_secs(15);

/// A version is committed at the end of its trial if its last healthy report is at most this old.
pub const FRESH: Duration = Duration::from_secs(30);

/// Silence after which the agent is suspected to hang.
pub const SILENCE: Duration = Duration::from_secs(60);

/// A suspected agent gets a further `SILENCE / HEARING` to report. If the guard itself was suspended, with or without
/// the agent, a report of the agent arrives within this time.
const HEARING: u32 = 6;

/// Exit code of an agent whose local API port another program uses. The version is not at fault.
pub const PORT_TAKEN: u8 = 76;

/// The time limits of the guard's decisions.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    /// How long the trial of a version lasts.
    pub window: Duration,
    /// How long the agent may be silent. None if the guard cannot receive its reports.
    pub silence: Option<Duration>,
}

impl Default for Limits {
    /// The limits unless a development build overrides them (specification, section 8).
    fn default() -> Self {
        Self { window: link_protocol::limits::ROLLBACK_WINDOW, silence: Some(SILENCE) }
    }
}

/// The state of the guard.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Guard {
    phase: Phase,
    /// Consecutive quick ends.
    quick_ends: usize,
    limits: Limits,
    trial: Option<Trial>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Phase {
    Running { since: Now, heard: Heard },
    Waiting { until: Now },
    Stopping { kill_at: Now, killed: bool },
    Ended,
}

/// When the agent last reported that it is alive.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Heard {
    /// The agent was started or last reported at this time.
    At(Now),
    /// The agent was silent for too long. It is killed at this time unless it reports before.
    Until(Now),
    /// The agent has been killed because of its silence.
    Never,
}

/// A version on trial.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Trial {
    until: Now,
    /// Whether the agent of this version has started. Before that, an end of the agent may be that of the previous
    /// version.
    started: bool,
    well_at: Option<Now>,
    /// Whether the agent was killed because it was unhealthy at the end of the trial.
    condemned: bool,
}

/// An event that the guard handles.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Event {
    /// The agent ended, or failed to start.
    AgentEnded(End),
    /// The agent has reported that it is alive.
    Heard,
    /// A version is on trial. `started` is false if the previous version still runs and is about to be replaced.
    OnTrial { started: bool },
    /// The agent of the version on trial has started.
    Runs,
    /// The version on trial has proved healthy.
    Well,
    /// The guard has been asked to stop.
    StopRequested,
    /// The deadline of [`Guard::deadline`] has passed.
    DeadlineReached,
}

/// How the agent ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum End {
    InOrder,
    Failed,
    /// Another program uses the port of the local API.
    PortTaken,
}

/// An effect for the shell.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Effect {
    StartAgent,
    /// Ask the agent to end.
    TerminateAgent,
    KillAgent(Cause),
    /// Commit the version on trial: end its trial and keep it.
    Commit,
    /// Roll back to the previous version.
    RollBack(Fault),
    /// End the guard.
    Finish,
}

/// Why the agent is killed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Cause {
    /// The agent still runs although it was asked to end.
    GoesOn,
    /// The agent was unhealthy at the end of the trial of its version.
    NotWell,
    /// The agent has fallen silent.
    Silent,
}

/// Why a version is rolled back.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fault {
    /// The agent ended, by itself or by a signal.
    Ended,
    /// The version was unhealthy at the end of its trial.
    NotWell,
    /// Another program uses the port of the local API. The version may be retried.
    PortTaken,
}

impl Guard {
    /// Creates the guard, and returns the effect that starts the agent.
    #[must_use]
    pub const fn new(now: Now, limits: Limits) -> (Self, Effect) {
        let phase = running(now);
        (Self { phase, quick_ends: 0, limits, trial: None }, Effect::StartAgent)
    }

    /// Applies `event` and returns the effects to run, in order.
    #[must_use]
    pub fn handle(&mut self, event: Event, now: Now) -> Vec<Effect> {
        match event {
            Event::AgentEnded(end) => self.agent_ended(end, now),
            Event::Heard => {
                self.heard(now);
                Vec::new()
            }
            Event::OnTrial { started } => {
                let until = now + self.limits.window;
                let trial = Trial { until, started, well_at: None, condemned: false };
                // A trial that is already known keeps its end: a repeated event must not extend it.
                self.trial.get_or_insert(trial);
                Vec::new()
            }
            Event::Runs | Event::Well => {
                self.heard(now);
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

    /// Returns the time at which to send the next [`Event::DeadlineReached`]. None if no deadline is set.
    #[must_use]
    pub fn deadline(&self) -> Option<Now> {
        let phase = match self.phase {
            Phase::Waiting { until } => Some(until),
            Phase::Stopping { kill_at, killed: false } => Some(kill_at),
            Phase::Running { .. } => self.silence_ends(),
            Phase::Stopping { killed: true, .. } | Phase::Ended => None,
        };
        [phase, self.window_ends()].into_iter().flatten().min()
    }

    /// Returns whether the agent should be running now.
    #[must_use]
    pub const fn expects_agent(&self) -> bool {
        match self.phase {
            Phase::Running { .. } | Phase::Stopping { .. } => true,
            Phase::Waiting { .. } | Phase::Ended => false,
        }
    }

    /// Returns whether a version is on trial.
    #[must_use]
    pub const fn has_trial(&self) -> bool {
        self.trial.is_some()
    }

    /// The end of the trial. None if the trial has ended or the guard stops: then the guard decides at its next start.
    fn window_ends(&self) -> Option<Now> {
        let open = matches!(self.phase, Phase::Running { .. } | Phase::Waiting { .. });
        self.trial.as_ref().filter(|trial| open && !trial.condemned).map(|trial| trial.until)
    }

    /// When the guard acts on the silence of the agent. None during a trial, which checks the health at its end.
    fn silence_ends(&self) -> Option<Now> {
        let limit = self.limits.silence.filter(|_| self.trial.is_none())?;
        match self.phase {
            Phase::Running { heard: Heard::At(at), .. } => Some(at + limit),
            Phase::Running { heard: Heard::Until(until), .. } => Some(until),
            Phase::Running { heard: Heard::Never, .. }
            | Phase::Waiting { .. }
            | Phase::Stopping { .. }
            | Phase::Ended => None,
        }
    }

    const fn heard(&mut self, now: Now) {
        if let Phase::Running { heard: heard @ (Heard::At(_) | Heard::Until(_)), .. } =
            &mut self.phase
        {
            *heard = Heard::At(now);
        }
    }

    fn agent_ended(&mut self, end: End, now: Now) -> Vec<Effect> {
        match self.phase {
            Phase::Running { since, .. } => {
                match (&mut self.trial, end) {
                    (Some(Trial { condemned: true, .. }), _) => {
                        return self.roll_back(Fault::NotWell, now);
                    }
                    (Some(Trial { started: true, .. }), End::Failed) => {
                        return self.roll_back(Fault::Ended, now);
                    }
                    (Some(Trial { started: true, .. }), End::PortTaken) => {
                        return self.roll_back(Fault::PortTaken, now);
                    }
                    // Either the previous version has ended to be replaced, or the version on trial has ended normally.
                    // In both cases the next start runs the version on trial.
                    (Some(trial), End::InOrder | End::Failed | End::PortTaken) => {
                        trial.started = true;
                    }
                    (None, _) => {}
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
        // The quick ends were those of the rolled-back version. The restored version starts without a delay.
        self.quick_ends = 0;
        self.phase = running(now);
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
        if self.silence_ends().is_some_and(|end| end <= now) {
            return self.end_silence(now);
        }
        match self.phase {
            Phase::Waiting { until } if until <= now => {
                self.phase = running(now);
                vec![Effect::StartAgent]
            }
            Phase::Stopping { kill_at, killed: false } if kill_at <= now => {
                self.phase = Phase::Stopping { kill_at, killed: true };
                vec![Effect::KillAgent(Cause::GoesOn)]
            }
            Phase::Running { .. }
            | Phase::Waiting { .. }
            | Phase::Stopping { .. }
            | Phase::Ended => Vec::new(),
        }
    }

    fn end_silence(&mut self, now: Now) -> Vec<Effect> {
        let hearing = self.limits.silence.unwrap_or_default() / HEARING;
        let Phase::Running { heard, .. } = &mut self.phase else { return Vec::new() };
        match heard {
            // The guard itself may have been suspended. Then a report of the agent may be waiting to be read.
            Heard::At(_) => {
                *heard = Heard::Until(now + hearing);
                Vec::new()
            }
            Heard::Until(_) => {
                *heard = Heard::Never;
                vec![Effect::KillAgent(Cause::Silent)]
            }
            Heard::Never => Vec::new(),
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
            vec![Effect::KillAgent(Cause::NotWell)]
        } else {
            // The agent has ended and waits for its restart, so there is no process to kill first.
            self.roll_back(Fault::NotWell, now)
        }
    }
}

const fn running(now: Now) -> Phase {
    Phase::Running { since: now, heard: Heard::At(now) }
}

#[cfg(test)]
mod tests;
