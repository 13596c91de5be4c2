//! The decisions of the guard: keep the agent running, stop it on request, and commit or roll back a version on trial.
//!
//! After the agent has ended, the guard restarts it. The delay grows with each quick end, and is reset once the agent has
//! run for a while. The guard kills an agent that is silent for too long. It rolls a version on trial back at once if the
//! agent fails, and at the end of the window unless the agent was healthy a moment ago. On a request to stop, the guard
//! asks the agent to end, then kills it, and restarts nothing. Pure: the shell is the program `link-guard`.

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

/// Run time from which an end does not count as quick.
pub const SETTLED: Duration = Duration::from_secs(60);

/// How long the agent may take to end after a request.
pub const PATIENCE: Duration = Duration::from_secs(15);

/// How recently a version must have been healthy at the end of its window to be kept.
pub const FRESH: Duration = Duration::from_secs(30);

/// Silence after which the agent is suspected to hang.
pub const SILENCE: Duration = Duration::from_secs(60);

/// Further silence that is granted to a suspected agent. If the guard itself was suspended, with or without the agent, it
/// hears the agent within this time.
const HEARING: u32 = 6;

/// Exit code of an agent whose local API port is taken by another program, which is no fault of the
/// version.
pub const PORT_TAKEN: u8 = 76;

/// The time limits of the guard's decisions.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    /// A version is on trial.
    pub window: Duration,
    /// How long the agent may be silent. None if the guard cannot hear it.
    pub silence: Option<Duration>,
}

/// The guard.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Guard {
    phase: Phase,
    /// Quick ends in a row.
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

/// Whether the agent has been heard of lately.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Heard {
    /// When the agent was started or last spoke.
    At(Now),
    /// The agent was silent for too long, and has time until this moment.
    Until(Now),
    /// The agent has been killed because of its silence.
    Never,
}

/// A version on trial.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Trial {
    until: Now,
    /// Whether the version has started. An end before its start may be that of the previous version.
    started: bool,
    well_at: Option<Now>,
    /// Whether the version was unhealthy at the end of the window, and so has been killed.
    condemned: bool,
}

/// An event that the guard decides upon.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Event {
    /// The agent ended, or could not be started.
    AgentEnded(End),
    /// The agent has reported that it is alive.
    Heard,
    /// A version on trial was found. `started` unless the version is about to take over the process.
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
    /// Another program has the port of its local API.
    PortTaken,
}

/// An effect for the shell.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Effect {
    StartAgent,
    /// Ask the agent to end.
    TerminateAgent,
    KillAgent(Cause),
    /// Commit the version on trial.
    Commit,
    /// Roll back to the previous version.
    RollBack(Fault),
    /// End the guard.
    Finish,
}

/// Why the agent is killed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Cause {
    /// The agent was asked to end and still runs.
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
    /// Another program has its port. The version may be retried.
    PortTaken,
}

impl Guard {
    /// Creates the guard. Its first effect starts the agent.
    #[must_use]
    pub const fn new(now: Now, limits: Limits) -> (Self, Effect) {
        let phase = running(now);
        (Self { phase, quick_ends: 0, limits, trial: None }, Effect::StartAgent)
    }

    /// Applies `event` and returns the effects that must run, in their order.
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
                // One that is known keeps its window: being told again must not make it longer.
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

    /// When to send the next [`Event::DeadlineReached`], if at all.
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

    /// When the trial ends. None if its end has passed or the guard stops: then the next start of the
    /// guard decides.
    fn window_ends(&self) -> Option<Now> {
        let open = matches!(self.phase, Phase::Running { .. } | Phase::Waiting { .. });
        self.trial.as_ref().filter(|trial| open && !trial.condemned).map(|trial| trial.until)
    }

    /// When the guard acts on the silence of the agent. Within a trial it acts only at the end of the
    /// window.
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
                    // The version before has made way, or the one on trial ended as it was asked to. The
                    // next start is that of the one on trial.
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
        // The quick ends were those of the version that goes; the one that comes back does not wait.
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
            // The guard itself may have been held up: the agent has spoken then, and is not heard yet.
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
            // It has ended and waits for its next start, so there is nothing to kill first.
            self.roll_back(Fault::NotWell, now)
        }
    }
}

const fn running(now: Now) -> Phase {
    Phase::Running { since: now, heard: Heard::At(now) }
}

#[cfg(test)]
mod tests;
