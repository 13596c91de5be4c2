//! The version on trial: whether there is one, and how often the guard has started with it.

use link_platform::fs;
use semver::Version;

use super::{ChangeError, ROLLING_BACK, Versions, beside, current, load_state};
use crate::decide::update::{TRIAL_STARTS, TrialFailure, TrialState};

/// Who asks for the version on trial.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Asker {
    /// The guard at its start, which counts.
    StartingGuard,
    RunningGuard,
}

impl Versions {
    /// Resolves an interrupted replacement, and returns the version on trial. `asker` says who wants to know: the number
    /// of starts during a trial is limited.
    ///
    /// # Errors
    /// [`ChangeError`].
    pub fn resolve(&self, asker: Asker) -> Result<Option<Version>, ChangeError> {
        let Some(current) = current(&self.layout) else { return Ok(None) };
        self.restore(&current)?;
        let mut state = load_state(&self.layout)?;
        match state.found(&current) {
            TrialState::Nothing => Ok(None),
            TrialState::Unfinished(steps) => {
                self.apply(&steps, ROLLING_BACK)?;
                self.prune().map(|()| None)
            }
            TrialState::Trial if asker == Asker::RunningGuard => Ok(Some(current)),
            TrialState::Trial => {
                let starts = state.pending.as_mut().map_or(0, |pending| {
                    pending.starts += 1;
                    pending.starts
                });
                if starts > TRIAL_STARTS {
                    let reason = format!("it was interrupted {TRIAL_STARTS} times while on trial");
                    let failure = TrialFailure { reason, is_its_fault: true };
                    return self.roll_back(&current, failure).map(|()| None);
                }
                self.write(&state).map(|()| Some(current))
            }
        }
    }

    /// Restores the folder of a version that an interrupted repair has moved away.
    fn restore(&self, version: &Version) -> Result<(), ChangeError> {
        let folder = self.layout.version(&version.to_string());
        let replaced = beside(&folder, "old");
        if !folder.exists() && replaced.exists() {
            fs::rename(&replaced, &folder)?;
        }
        Ok(())
    }

    /// Uncounts a start of the guard. A requested stop of the guard is not the version's fault.
    ///
    /// # Errors
    /// If the state cannot be written.
    pub fn uncount_start(&self) -> Result<(), ChangeError> {
        let mut state = load_state(&self.layout)?;
        let Some(pending) = &mut state.pending else { return Ok(()) };
        pending.starts = pending.starts.saturating_sub(1);
        self.write(&state)
    }
}
