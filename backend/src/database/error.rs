//! The errors of statements on either database, and the errors that the rest of the backend sees.

use deadpool::unmanaged::PoolError;
use rusqlite::ffi;

/// A request to the store failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The record to change does not exist.
    #[error("it is not stored")]
    NotFound,
    /// A record with the same unique value exists.
    #[error("it exists")]
    Conflict,
    /// The database did not answer, or contains unreadable values.
    #[error("the database failed")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// A statement failed, or no connection was available.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SqlError {
    /// SQLite returned an error.
    #[error(transparent)]
    Lite(#[from] rusqlite::Error),
    /// PostgreSQL returned an error or cannot be reached.
    #[error(transparent)]
    Pg(#[from] sqlx::Error),
    /// A required row does not exist.
    #[error("there is no such row")]
    NoRow,
    /// No connection to SQLite became free in time.
    #[error("no connection to the database came free in time")]
    TimedOut,
    /// No transaction could be started.
    #[error("a transaction was not begun")]
    NotBegun,
    /// The store was closed.
    #[error("the database is closed")]
    Closed,
}

impl SqlError {
    fn is_twin(&self) -> bool {
        match self {
            Self::Lite(error) => {
                let unique = [
                    ffi::SQLITE_CONSTRAINT_UNIQUE,
                    ffi::SQLITE_CONSTRAINT_PRIMARYKEY,
                    ffi::SQLITE_CONSTRAINT_ROWID,
                ];
                error.sqlite_error().is_some_and(|cause| unique.contains(&cause.extended_code))
            }
            Self::Pg(error) => {
                error.as_database_error().is_some_and(|cause| cause.is_unique_violation())
            }
            Self::NoRow | Self::TimedOut | Self::NotBegun | Self::Closed => false,
        }
    }
}

impl From<PoolError> for SqlError {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Timeout | PoolError::NoRuntimeSpecified => Self::TimedOut,
            PoolError::Closed => Self::Closed,
        }
    }
}

impl From<SqlError> for StoreError {
    fn from(error: SqlError) -> Self {
        match error {
            SqlError::NoRow => Self::NotFound,
            SqlError::Lite(_)
            | SqlError::Pg(_)
            | SqlError::TimedOut
            | SqlError::NotBegun
            | SqlError::Closed => {
                if error.is_twin() {
                    Self::Conflict
                } else {
                    Self::Unavailable(Box::new(error))
                }
            }
        }
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        SqlError::Pg(error).into()
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        SqlError::Lite(error).into()
    }
}
