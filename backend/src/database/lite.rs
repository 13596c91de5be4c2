//! The file of SQLite: opened, and used without holding up the threads that others run on.

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
/// Every statement of the store stays prepared.
const STATEMENTS: usize = 256;

const READ_ONLY: &str = "PRAGMA query_only = ON";

/// Connections that only read.
pub(crate) type Readers = Pool<Connection>;
/// One of them.
pub(crate) type Reader = Object<Connection>;

/// Opens the database `file`, which exists.
///
/// # Errors
/// [`rusqlite::Error`] when it is not a database or cannot be read.
pub(crate) fn open(file: &Path) -> Result<Connection, rusqlite::Error> {
    let connection = link_sqlite::open(file)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(connection)
}

/// Opens the database `file`, which exists, and changes nothing there: also on a disk that is read-only, unless its
/// log holds what is not in the file yet.
///
/// # Errors
/// [`rusqlite::Error`] when the file cannot be read.
pub(crate) fn open_to_read(file: &Path) -> Result<Connection, rusqlite::Error> {
    let connection = link_sqlite::open_to_read(file)?;
    let read = |connection: &Connection| {
        connection.query_one("SELECT COUNT(*) FROM sqlite_master", [], |row| row.get::<_, i64>(0))
    };
    match read(&connection) {
        Ok(_) => Ok(connection),
        Err(error) if has_log(file) => Err(error),
        Err(error) => match error.sqlite_error_code() {
            // The index of the log cannot be made on a disk that is read-only. Without a log none is needed.
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

/// Opens connections to `file` that only read; whoever needs one waits no longer than `patience`.
///
/// # Errors
/// Those of [`open`].
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

/// Runs what takes long on a thread that nobody else waits for.
///
/// # Errors
/// [`SqlError::Closed`] when the program ends meanwhile.
pub(crate) async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, SqlError> {
    task::spawn_blocking(work).await.map_err(|_| SqlError::Closed)
}

/// Runs what may take long where it is; other tasks leave this thread meanwhile.
pub(crate) fn at_length<T>(work: impl FnOnce() -> T) -> T {
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
