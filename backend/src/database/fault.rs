//! The causes of failed statements: states that pass by themselves, and faults that an operator has to repair.

use std::sync::Arc;

use crate::database::{StoreError, error::SqlError, writer::NotStored};

/// A state that passes by itself, so that a retry may succeed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Passing {
    /// The database is overloaded, or other transactions hold its locks.
    Busy,
    /// The disk is full.
    Full,
    /// The database cannot be written.
    Unwritable,
    /// The database cannot be reached, or is starting.
    Unreachable,
}

impl Passing {
    /// Returns an explanation for the client.
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

/// A fault that an operator has to repair.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fault {
    /// The disk or the server is full.
    Full,
    /// The disk is read-only or fails, or the files belong to another user.
    Unwritable,
    /// The file is malformed or is no database.
    Damaged,
}

impl Fault {
    /// All faults.
    pub const ALL: [Self; 3] = [Self::Full, Self::Unwritable, Self::Damaged];

    /// Returns the name of the fault in metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Unwritable => "unwritable",
            Self::Damaged => "damaged",
        }
    }

    /// Returns an explanation and a remedy for an operator.
    #[must_use]
    pub const fn detail(self) -> &'static str {
        match self {
            Self::Full => "the database has no room left; make room on its disk",
            Self::Unwritable => {
                "the database cannot be written; check its disk and run `link-backend doctor`"
            }
            Self::Damaged => {
                "the database is damaged; run `link-backend doctor` and restore the latest backup"
            }
        }
    }
}

impl StoreError {
    /// Returns the fault behind this error, if there is one.
    #[must_use]
    pub fn fault(&self) -> Option<Fault> {
        match self {
            Self::NotFound | Self::Conflict => None,
            Self::Unavailable(cause) => {
                let shared = cause.downcast_ref::<Arc<NotStored>>().map(AsRef::as_ref);
                match shared {
                    // Another transaction failed, and reports the fault.
                    Some(NotStored::Together(_)) => None,
                    Some(NotStored::Failed(error)) => fault(error),
                    None => cause.downcast_ref::<SqlError>().and_then(fault),
                }
            }
        }
    }

    /// Returns the passing state behind this error, if there is one.
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

fn fault(error: &SqlError) -> Option<Fault> {
    let damaged = match error {
        SqlError::Lite(error) => {
            let code = error.sqlite_error().map(|cause| cause.extended_code & 0xff);
            // CORRUPT, NOTADB
            matches!(code, Some(11 | 26))
        }
        SqlError::Pg(error) => {
            let code = error.as_database_error().and_then(|cause| cause.code());
            // data_corrupted, index_corrupted
            code.is_some_and(|code| matches!(code.as_ref(), "XX001" | "XX002"))
        }
        SqlError::NoRow | SqlError::TimedOut | SqlError::NotBegun | SqlError::Closed => false,
    };
    if damaged {
        return Some(Fault::Damaged);
    }
    match passing(error)? {
        Passing::Full => Some(Fault::Full),
        Passing::Unwritable => Some(Fault::Unwritable),
        Passing::Busy | Passing::Unreachable => None,
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

/// Tells whether the error is one of those that a lost connection can cause.
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

/// Returns the passing state for an SQLite result code. The lower byte of the code is the error; the rest gives
/// details.
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
    fn a_fault_is_told_from_a_state_that_passes() {
        let sqlite = |code| {
            let cause = rusqlite::ffi::Error::new(code);
            StoreError::from(rusqlite::Error::SqliteFailure(cause, None)).fault()
        };
        assert_eq!(sqlite(rusqlite::ffi::SQLITE_FULL), Some(Fault::Full));
        assert_eq!(sqlite(rusqlite::ffi::SQLITE_READONLY), Some(Fault::Unwritable));
        assert_eq!(sqlite(rusqlite::ffi::SQLITE_IOERR_WRITE), Some(Fault::Unwritable));
        assert_eq!(sqlite(rusqlite::ffi::SQLITE_CORRUPT_INDEX), Some(Fault::Damaged));
        assert_eq!(sqlite(rusqlite::ffi::SQLITE_NOTADB), Some(Fault::Damaged));
        assert_eq!(sqlite(rusqlite::ffi::SQLITE_BUSY), None);
        assert_eq!(StoreError::NotFound.fault(), None);
    }

    #[test]
    fn an_error_that_is_not_of_the_database_does_not_pass() {
        let broken = serde_json::from_str::<u8>("x").unwrap_err();
        assert_eq!(StoreError::Unavailable(Box::new(broken)).passing(), None);
        assert_eq!(StoreError::from(sqlx::Error::PoolTimedOut).passing(), Some(Passing::Busy));
    }
}
