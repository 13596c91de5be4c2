//! What is wrong with a database that does not answer, as far as that may pass by itself.

use std::sync::Arc;

use crate::database::{StoreError, error::SqlError, writer::NotStored};

/// Why it may be worth asking again.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Passing {
    /// It has too much to do, or others are in the way.
    Busy,
    /// It has no room left.
    Full,
    /// It cannot be written.
    Unwritable,
    /// It is not there, or it is being started.
    Unreachable,
}

impl Passing {
    /// Says so, for whoever asked.
    #[must_use]
    pub const fn detail(self) -> &'static str {
        match self {
            Self::Busy => "the database takes too long to answer",
            Self::Full => "the database has no room left; nothing was stored",
            Self::Unwritable => "the database cannot be written; nothing was stored",
            Self::Unreachable => "the database cannot be reached",
        }
    }
}

impl StoreError {
    /// Returns why it may be worth asking again, if it is.
    #[must_use]
    pub fn passing(&self) -> Option<Passing> {
        match self {
            Self::NotFound | Self::Conflict => None,
            Self::Unavailable(cause) => {
                match cause.downcast_ref::<Arc<NotStored>>().map(AsRef::as_ref) {
                    Some(NotStored::Failed(error)) => passing(error),
                    Some(NotStored::Together(_)) => Some(Passing::Unwritable),
                    None => cause.downcast_ref::<SqlError>().and_then(passing),
                }
            }
        }
    }
}

fn passing(error: &SqlError) -> Option<Passing> {
    match error {
        SqlError::Lite(error) => of_sqlite(error.sqlite_error()?.extended_code),
        SqlError::Pg(error) => match error.as_database_error() {
            Some(cause) => of_postgresql(&cause.code()?),
            None if matches!(error, sqlx::Error::PoolTimedOut) => Some(Passing::Busy),
            None => is_connection_lost(error).then_some(Passing::Unreachable),
        },
        SqlError::TimedOut => Some(Passing::Busy),
        SqlError::NotBegun | SqlError::Closed => Some(Passing::Unreachable),
        SqlError::NoRow => None,
    }
}

/// A connection that was cut in the middle of something shows as any of these.
const fn is_connection_lost(error: &sqlx::Error) -> bool {
    matches!(
        error,
        sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::Protocol(_)
            | sqlx::Error::BeginFailed
            | sqlx::Error::PoolClosed
    )
}

/// The lower byte of an SQLite result code is the error, the rest says more of it.
const fn of_sqlite(code: i32) -> Option<Passing> {
    match code & 0xff {
        // BUSY, LOCKED
        5 | 6 => Some(Passing::Busy),
        // READONLY, IOERR
        8 | 10 => Some(Passing::Unwritable),
        // FULL
        13 => Some(Passing::Full),
        _ => None,
    }
}

fn of_postgresql(code: &str) -> Option<Passing> {
    match code {
        // disk_full
        "53100" => Some(Passing::Full),
        // serialization_failure, deadlock_detected, lock_not_available, query_canceled,
        // idle_in_transaction_session_timeout
        "40001" | "40P01" | "55P03" | "57014" | "25P03" => Some(Passing::Busy),
        // read_only_sql_transaction: a standby
        "25006" => Some(Passing::Unwritable),
        // admin_shutdown, crash_shutdown, cannot_connect_now
        "57P01" | "57P02" | "57P03" => Some(Passing::Unreachable),
        // connection_exception, insufficient_resources
        _ if code.starts_with("08") => Some(Passing::Unreachable),
        _ if code.starts_with("53") => Some(Passing::Busy),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_either_database_are_told_apart() {
        assert_eq!(of_sqlite(517), Some(Passing::Busy), "a stale snapshot");
        assert_eq!(of_sqlite(4874), Some(Passing::Unwritable));
        assert_eq!(of_sqlite(2067), None, "a constraint");
        assert_eq!(of_postgresql("08006"), Some(Passing::Unreachable));
        assert_eq!(of_postgresql("53300"), Some(Passing::Busy));
        assert_eq!(of_postgresql("53100"), Some(Passing::Full));
        assert_eq!(of_postgresql("23505"), None, "a constraint");
    }

    #[test]
    fn an_error_that_is_not_of_the_database_does_not_pass() {
        let broken = serde_json::from_str::<u8>("x").unwrap_err();
        assert_eq!(StoreError::Unavailable(Box::new(broken)).passing(), None);
        assert_eq!(StoreError::from(sqlx::Error::PoolTimedOut).passing(), Some(Passing::Busy));
    }
}
