//! Why a use case did not succeed: it was refused, or something broke.

use crate::{
    content::ContentError,
    database::{StoreError, transaction::Cause},
    domain::refusal::Refusal,
};

/// A use case did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// By a rule; the caller is told which.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The store could not answer.
    #[error(transparent)]
    Store(StoreError),
    /// The home of model files could not do what it should.
    #[error(transparent)]
    Content(#[from] ContentError),
    /// Something else broke; only the log says what.
    #[error("failed to {0}")]
    Broken(&'static str, #[source] Box<dyn std::error::Error + Send + Sync>),
}

impl Failure {
    /// Wraps what broke while trying to do `what`.
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
