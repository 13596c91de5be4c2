//! The SQLite file: opens it, and runs statements without blocking the threads of other tasks.

use std::{path::Path, time::Duration};

use deadpool::{
    Runtime,
    unmanaged::{Object, Pool, PoolConfig},
};
use rusqlite::{Connection, ErrorCode};
use tokio::{
    runtime::{Handle, RuntimeFlavor},
    task,
};

use crate::database::error::SqlError;

const READERS: usize = 4;
/// The size of the cache for prepared statements, large enough for every statement of the store.
const STATEMENTS: usize = 256;

const READ_ONLY: &str = "PRAGMA query_only = ON";

/// A pool of read-only connections.
pub(crate) type Readers = Pool<Connection>;
/// A read-only connection from the pool.
pub(crate) type Reader = Object<Connection>;

/// Opens the existing database `file`.
///
/// # Errors
/// [`rusqlite::Error`] if `file` is no database or cannot be read.
pub(crate) fn open(file: &Path) -> Result<Connection, rusqlite::Error> {
    let connection = link_sqlite::open(file)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(connection)
}

/// Opens the existing database `file` without changing anything. This works on a read-only disk too, unless the log
/// contains data that the file does not have yet.
///
/// # Errors
/// [`rusqlite::Error`] if the file cannot be read.
pub(crate) fn open_to_read(file: &Path) -> Result<Connection, rusqlite::Error> {
    let connection = link_sqlite::open_to_read(file)?;
    let read = |connection: &Connection| {
        connection.query_one("SELECT COUNT(*) FROM sqlite_master", [], |row| row.get::<_, i64>(0))
    };
    match read(&connection) {
        Ok(_) => Ok(connection),
        Err(error) if has_log(file) => Err(error),
        Err(error) => match error.sqlite_error_code() {
            // SQLite cannot create the index of the log on a read-only disk. Without a log, none is needed.
            Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly) => link_sqlite::open_still(file),
            Some(_) | None => Err(error),
        },
    }
}

fn has_log(file: &Path) -> bool {
    let mut log = file.as_os_str().to_owned();
    log.push("-wal");
    Path::new(&log).metadata().is_ok_and(|found| found.len() > 0)
}

/// Opens a pool of read-only connections to `file`. Waiting for a connection times out after `patience`.
///
/// # Errors
/// As for [`open`].
pub(crate) fn readers(file: &Path, patience: Duration) -> Result<Readers, SqlError> {
    let pool = Pool::from_config(&PoolConfig {
        max_size: READERS,
        timeout: Some(patience),
        runtime: Some(Runtime::Tokio1),
    });
    for _ in 0..READERS {
        let connection = open(file)?;
        connection.execute_batch(READ_ONLY)?;
        pool.try_add(connection).map_err(|(_, error)| error)?;
    }
    Ok(pool)
}

/// Runs blocking work on the blocking thread pool.
///
/// # Errors
/// [`SqlError::Closed`] if the program ends meanwhile.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, SqlError> {
    task::spawn_blocking(work).await.map_err(|_| SqlError::Closed)
}

/// Runs work that may take long on the current thread, after the runtime has moved other tasks away from it.
pub(crate) fn maybe_slow<T>(work: impl FnOnce() -> T) -> T {
    let has_others = Handle::current().runtime_flavor() == RuntimeFlavor::MultiThread;
    if has_others { task::block_in_place(work) } else { work() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_reader_does_not_write_and_whoever_waits_for_one_is_told_in_time() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("some.db");
        Connection::open(&file).unwrap().execute_batch("CREATE TABLE t (a BIGINT)").unwrap();
        let readers = readers(&file, Duration::from_millis(20)).unwrap();
        let mut taken = Vec::new();
        for _ in 0..READERS {
            taken.push(readers.get().await.unwrap());
        }
        taken[0].execute("INSERT INTO t VALUES (1)", []).unwrap_err();
        let late = readers.get().await.map_err(SqlError::from).unwrap_err();
        assert!(matches!(late, SqlError::TimedOut), "{late}");
    }
}
