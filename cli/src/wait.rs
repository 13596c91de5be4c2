//! Waits for remote events, with a deadline.

#![expect(clippy::disallowed_methods, reason = "IO shell: reads the clock and sleeps")]

use std::time::{Duration, Instant};

use link_client::{backend::CallError, http::Failure};

use link_protocol::exit_code::ExitCode;

use crate::{error::CliError, error_code::ErrorCode};

/// The first interval between requests to the backend. It is short, so that quick results show at
/// once.
const FIRST_STEP: Duration = Duration::from_millis(50);
const STEP: Duration = Duration::from_millis(500);
/// The interval between two checks on this machine.
const LOCAL_STEP: Duration = Duration::from_millis(50);

/// A deadline.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    started: Instant,
    patience: Duration,
}

impl Deadline {
    /// Creates a deadline after `patience`, from now on.
    pub(crate) fn after(patience: Duration) -> Self {
        Self { started: Instant::now(), patience }
    }

    /// Pauses before the next request to the backend, at least for `asked_for`. Returns false if
    /// the deadline has passed.
    pub(crate) async fn pause(&self, asked_for: Option<Duration>) -> bool {
        let step = (self.started.elapsed() / 4).clamp(FIRST_STEP, STEP);
        self.pause_for(asked_for.unwrap_or_default().max(step)).await
    }

    /// Pauses before the next check on this machine. Returns false if the deadline has passed.
    pub(crate) async fn pause_locally(&self) -> bool {
        self.pause_for(LOCAL_STEP).await
    }

    /// Returns whether the deadline has passed.
    pub(crate) fn has_passed(&self) -> bool {
        self.started.elapsed() >= self.patience
    }

    /// Returns the error for a timeout while waiting for `what`. The caller adds a hint: what goes on, and what to do.
    pub(crate) fn gave_up(&self, what: &str) -> CliError {
        let message = format!("timed out after {} s: {what}", self.patience.as_secs());
        CliError::new(ExitCode::GaveUp, ErrorCode::GaveUp, message)
    }

    async fn pause_for(&self, step: Duration) -> bool {
        let Some(left) = self.patience.checked_sub(self.started.elapsed()) else { return false };
        tokio::time::sleep(step.min(left)).await;
        true
    }
}

/// Waits for `work`. After Ctrl-C, returns an error that says that `what` continues, with `hint`.
///
/// # Errors
/// The error of `work`, or the interruption.
pub(crate) async fn unless_interrupted<T>(
    work: impl Future<Output = Result<T, CliError>>,
    what: &str,
    hint: &str,
) -> Result<T, CliError> {
    tokio::select! {
        ended = work => ended,
        _interrupted = tokio::signal::ctrl_c() => {
            let message = format!("stopped waiting; {what} continues");
            Err(CliError::new(ExitCode::Interrupted, ErrorCode::GaveUp, message).hint(hint))
        }
    }
}

/// Pauses between two checks of a state that may change at any time.
pub(crate) async fn pause(interval: Duration) {
    tokio::time::sleep(interval).await;
}

/// Turns a failed request into `None` if a retry may succeed.
///
/// # Errors
/// A failure that a retry cannot change.
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
