//! The failures of calls. A failed call may be retried, or was refused.

use std::{error::Error, fmt, time::Duration};

use link_protocol::problem::{Code, Problem};

/// A call failed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Failure {
    /// The server did not answer, or had an internal error. A retry may succeed.
    #[error("no answer from {url}: {cause}")]
    Unavailable { url: String, cause: Cause },
    /// The server refused the request: a retry gets the same answer.
    #[error(transparent)]
    Refused(#[from] HttpError),
}

/// The server refused a request (specification, section 7).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HttpError {
    pub status: u16,
    /// The detail of the problem document, or the status in words.
    pub reason: String,
    /// Whether a retry may succeed; never true for a 4xx.
    pub retryable: bool,
    pub problem: Option<Box<Problem>>,
    /// How long the server asked to wait before another request.
    pub retry_after: Option<Duration>,
}

/// The reason why a server did not answer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Cause {
    /// Nothing listens at the address, or the address is unreachable.
    Connect(String),
    /// The call timed out.
    Timeout,
    /// The server answered with a 5xx.
    Status { status: u16, problem: Option<Box<Problem>>, retry_after: Option<Duration> },
    /// The server's answer is not readable by this version.
    Unreadable(String),
    /// The connection broke.
    Broken(String),
}

impl Failure {
    /// Returns the problem document that came with the failure.
    #[must_use]
    pub fn problem(&self) -> Option<&Problem> {
        match self {
            Self::Unavailable { cause: Cause::Status { problem, .. }, .. } => problem.as_deref(),
            Self::Unavailable { .. } => None,
            Self::Refused(error) => error.problem.as_deref(),
        }
    }

    /// Returns the code of the problem, if this version knows it.
    #[must_use]
    pub fn code(&self) -> Option<Code> {
        self.problem().and_then(Problem::known_code)
    }

    /// Returns how long the server asked to wait.
    #[must_use]
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Unavailable { cause: Cause::Status { retry_after, .. }, .. } => *retry_after,
            Self::Unavailable { .. } => None,
            Self::Refused(error) => error.retry_after,
        }
    }
}

impl Cause {
    pub(crate) fn of(error: &reqwest::Error) -> Self {
        if error.is_timeout() {
            Self::Timeout
        } else if error.is_connect() {
            Self::Connect(root_cause(error))
        } else {
            Self::Broken(root_cause(error))
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect(why) => write!(f, "cannot connect: {why}"),
            Self::Timeout => f.write_str("timed out"),
            Self::Status { status, problem: Some(problem), .. } => {
                write!(f, "it answered {status}: {}", problem.detail)
            }
            Self::Status { status, problem: None, .. } => write!(f, "it answered {status}"),
            Self::Unreadable(why) => write!(f, "its answer does not fit this API: {why}"),
            Self::Broken(why) => write!(f, "the connection broke: {why}"),
        }
    }
}

impl Error for Cause {}

impl fmt::Display for HttpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "refused with status {}: {}", self.status, self.reason)
    }
}

impl Error for HttpError {}

/// Returns the innermost cause, which holds the words of the operating system.
fn root_cause(error: &dyn Error) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}

/// Returns the error and all its causes on one line.
pub(crate) fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut inner = error.source();
    while let Some(source) = inner {
        text = format!("{text}: {source}");
        inner = source.source();
    }
    text
}

/// Turns a failure that may be retried into `None`.
///
/// # Errors
/// [`HttpError`] when the call was refused.
pub(super) fn or_none<T>(result: Result<T, Failure>) -> Result<Option<T>, HttpError> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Failure::Unavailable { .. }) => Ok(None),
        Err(Failure::Refused(error)) => Err(error),
    }
}

/// Turns a failure that may be retried into `false`.
///
/// # Errors
/// [`HttpError`] when the call was refused.
pub(super) fn or_false(result: Result<(), Failure>) -> Result<bool, HttpError> {
    or_none(result).map(|done| done.is_some())
}
