//! What can go wrong with a statement on either database, and what the rest of the backend is told of it.

use deadpool::unmanaged::PoolError;
use rusqlite::ffi;

/// The store could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// What was to be changed is not there.
    #[error("it is not stored")]
    NotFound,
    /// Something that must be unique exists.
    #[error("it exists")]
    Conflict,
    /// The database did not answer, or holds what nobody can read.
    #[error("the database failed")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// A statement failed, or a connection could not be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SqlError {
    /// SQLite said no.
    #[error(transparent)]
    Lite(#[from] rusqlite::Error),
    /// PostgreSQL said no, or is not there.
    #[error(transparent)]
    Pg(#[from] sqlx::Error),
    /// There is no row where there has to be one.
    #[error("there is no such row")]
    NoRow,
    /// The connections to SQLite were taken for too long.
    #[error("no connection to the database came free in time")]
    TimedOut,
    /// No transaction could be begun.
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
