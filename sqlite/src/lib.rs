//! Opens SQLite database files with durable commits, and brings their tables up to date.
//!
//! The agent's journal and the database of a backend without a database server are SQLite files.

pub mod migrate;

use std::{path::Path, time::Duration};

use rusqlite::{Connection, OpenFlags};

/// How long a statement waits for a write of another connection.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Settings with which a commit has reached the disk when it returns, and readers do not wait for a
/// writer.
const DURABLE: &str =
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON";

/// Opens the existing database `file`.
///
/// # Errors
/// [`rusqlite::Error`] if the file is not a database or cannot be written.
pub fn open(file: &Path) -> Result<Connection, rusqlite::Error> {
    open_with(file, OpenFlags::SQLITE_OPEN_READ_WRITE)
}

/// Opens the database `file`, and creates it if it does not exist.
///
/// # Errors
/// [`rusqlite::Error`] if the file is not a database or cannot be written.
pub fn create(file: &Path) -> Result<Connection, rusqlite::Error> {
    open_with(file, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)
}

/// Opens the existing database `file` for reading.
///
/// # Errors
/// [`rusqlite::Error`] if the file cannot be read.
pub fn open_to_read(file: &Path) -> Result<Connection, rusqlite::Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    Ok(connection)
}

/// Opens the database `file` on a read-only disk. No other process may write the file, and it must
/// not have a write-ahead log.
///
/// # Errors
/// [`rusqlite::Error`] if the file cannot be read.
pub fn open_still(file: &Path) -> Result<Connection, rusqlite::Error> {
    let escaped: String = file.to_string_lossy().chars().map(escape).collect();
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    Connection::open_with_flags(format!("file:{escaped}?immutable=1"), flags)
}

/// Escapes a character of a path for a URI.
fn escape(character: char) -> String {
    match character {
        '%' | '?' | '#' => format!("%{:02X}", u32::from(character)),
        other => other.to_string(),
    }
}

fn open_with(file: &Path, flags: OpenFlags) -> Result<Connection, rusqlite::Error> {
    let connection = Connection::open_with_flags(file, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.execute_batch(DURABLE)?;
    Ok(connection)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_there_is_made_on_request_only() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("none.db");
        open(&file).unwrap_err();
        open_to_read(&file).unwrap_err();
        assert!(!file.exists());
        create(&file).unwrap();
        assert!(file.exists());
    }

    #[test]
    fn a_file_without_a_log_is_read_where_nothing_can_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("so?me #1 100%.db");
        create(&file)
            .unwrap()
            .execute_batch("CREATE TABLE t (a); INSERT INTO t VALUES (7)")
            .unwrap();
        let connection = open_still(&file).unwrap();
        let found: i64 = connection.query_one("SELECT a FROM t", [], |row| row.get(0)).unwrap();
        assert_eq!(found, 7);
        connection.execute("INSERT INTO t VALUES (8)", []).unwrap_err();
    }

    #[test]
    fn a_commit_is_durable_and_foreign_keys_hold() {
        let folder = tempfile::tempdir().unwrap();
        let connection = create(&folder.path().join("some.db")).unwrap();
        let pragma = |name: &str| -> String {
            let query = format!("SELECT CAST({name} AS TEXT) FROM pragma_{name}");
            connection.query_one(&query, [], |row| row.get(0)).unwrap()
        };
        let found = ["journal_mode", "synchronous", "foreign_keys"].map(pragma);
        assert_eq!(found, ["wal", "2", "1"]);
    }
}
