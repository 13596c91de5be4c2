//! Waiting for something to happen elsewhere, with a deadline.

#![expect(clippy::disallowed_methods, reason = "IO shell: reads the clock and sleeps")]

use std::time::{Duration, Instant};

use link_client::{backend::CallError, http::Failure};

use link_protocol::exit_code::ExitCode;

use crate::{error::CliError, error_code::ErrorCode};

/// How often the backend is asked: often at first, for what is quickly done.
const FIRST_STEP: Duration = Duration::from_millis(50);
const STEP: Duration = Duration::from_millis(500);
/// How often something on this machine is looked at.
const LOCAL_STEP: Duration = Duration::from_millis(50);

/// A moment after which nobody waits any more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    started: Instant,
    patience: Duration,
}

impl Deadline {
    /// Starts to wait.
    pub(crate) fn after(patience: Duration) -> Self {
        Self { started: Instant::now(), patience }
    }

    /// Pauses before the backend is asked again, for as long as it asked for; false when the
    /// deadline has passed.
    pub(crate) async fn pause(&self, asked_for: Option<Duration>) -> bool {
        let step = (self.started.elapsed() / 4).clamp(FIRST_STEP, STEP);
        self.pause_for(asked_for.unwrap_or_default().max(step)).await
    }

    /// Pauses before something on this machine is looked at again.
    pub(crate) async fn pause_locally(&self) -> bool {
        self.pause_for(LOCAL_STEP).await
    }

    /// Tells whether the moment has passed.
    pub(crate) fn has_passed(&self) -> bool {
        self.started.elapsed() >= self.patience
    }

    /// Returns the error of having waited in vain for `what`.
    pub(crate) fn gave_up(&self, what: &str) -> CliError {
        let message = format!("gave up after {} s: {what}", self.patience.as_secs());
        CliError::new(ExitCode::GaveUp, ErrorCode::GaveUp, message)
            .hint("it may still happen; wait longer with --timeout")
    }

    async fn pause_for(&self, step: Duration) -> bool {
        let Some(left) = self.patience.checked_sub(self.started.elapsed()) else { return false };
        tokio::time::sleep(step.min(left)).await;
        true
    }
}

/// Turns an answer into `None` when asking again may give one.
///
/// # Errors
/// What asking again does not change.
pub(crate) fn tolerate<T>(
    answer: Result<T, CallError>,
) -> Result<Result<T, Option<Duration>>, CliError> {
    match answer {
        Ok(value) => Ok(Ok(value)),
        Err(CallError::Backend(failure @ Failure::Unavailable { .. })) => {
            Ok(Err(failure.retry_after()))
        }
        Err(error) => Err(error.into()),
    }
}
