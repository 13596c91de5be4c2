//! The error of a use case: a refusal, or a fault.

use crate::{
    content::ContentError,
    database::{StoreError, transaction::Cause},
    domain::refusal::Refusal,
};

/// A use case failed.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// A rule refused the request. The caller learns which one.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The database failed.
    #[error(transparent)]
    Store(StoreError),
    /// The storage for model files failed.
    #[error(transparent)]
    Content(#[from] ContentError),
    /// Something else failed. Only the log contains the details.
    #[error("failed to {0}")]
    Broken(&'static str, #[source] Box<dyn std::error::Error + Send + Sync>),
}

impl AppError {
    /// Wraps an error of the step `what`.
    pub fn broken<E>(what: &'static str) -> impl FnOnce(E) -> Self
    where
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        move |error| Self::Broken(what, error.into())
    }
}

impl From<StoreError> for AppError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Cause for AppError {
    fn of_store(&self) -> Option<&StoreError> {
        match self {
            Self::Store(error) => Some(error),
            Self::Refused(_) | Self::Content(_) | Self::Broken(..) => None,
        }
    }
}
