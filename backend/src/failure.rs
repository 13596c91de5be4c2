//! The error of a use case: a refusal, or a fault.

use crate::{
    content::ContentError,
    database::{StoreError, transaction::Cause},
    domain::refusal::Refusal,
};

/// A use case failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A rule refused it; the caller learns which one.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The database failed.
    #[error(transparent)]
    Store(StoreError),
    /// The home of model files failed.
    #[error(transparent)]
    Content(#[from] ContentError),
    /// Something else failed; only the log says what.
    #[error("failed to {0}")]
    Broken(&'static str, #[source] Box<dyn std::error::Error + Send + Sync>),
}

impl Failure {
    /// Wraps an error of the step `what`.
    pub fn broken<E>(what: &'static str) -> impl FnOnce(E) -> Self
    where
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        move |error| Self::Broken(what, error.into())
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Cause for Failure {
    fn of_store(&self) -> Option<&StoreError> {
        match self {
            Self::Store(error) => Some(error),
            Self::Refused(_) | Self::Content(_) | Self::Broken(..) => None,
        }
    }
}
