//! Opens the database: a file that only the backend's user can read, durable at each commit.

use std::{io, path::Path, time::Duration};

use sqlx::{
    migrate::Migrator,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};

use crate::store::{Db, Store};

pub(super) static MIGRATIONS: Migrator = sqlx::migrate!("./migrations");

pub(super) const FILE: &str = "link.db";
const READERS: u32 = 4;
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// A request that cannot get a connection in this time is answered as overload.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);

/// The store could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The file could not be made.
    #[error("failed to create the database file")]
    Create(#[source] io::Error),
    /// The database could not be opened.
    #[error("failed to open the database")]
    Open(#[source] sqlx::Error),
    /// Its tables could not be brought up to date.
    #[error("failed to migrate the database")]
    Migrate(#[source] sqlx::migrate::MigrateError),
}

impl Store {
    /// Opens the store in the folder `data`, which exists.
    ///
    /// # Errors
    /// [`OpenError`] when the database cannot be made, opened or migrated.
    pub async fn open(data: &Path) -> Result<Self, OpenError> {
        let path = data.join(FILE);
        create_private(&path).map_err(OpenError::Create)?;
        let options = SqliteConnectOptions::new()
            .filename(&path)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(BUSY_TIMEOUT);
        let pool = |most: u32| {
            SqlitePoolOptions::new().max_connections(most).acquire_timeout(ACQUIRE_TIMEOUT)
        };
        let writer = pool(1).connect_with(options.clone()).await.map_err(OpenError::Open)?;
        MIGRATIONS.run(&writer).await.map_err(OpenError::Migrate)?;
        let reader = pool(READERS).connect_with(options).await.map_err(OpenError::Open)?;
        Ok(Self { db: Db::Lite { reader, writer } })
    }
}

/// SQLite gives its other files the permissions of this one, so it is made before.
fn create_private(path: &Path) -> io::Result<()> {
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    if path.exists() {
        return Ok(());
    }
    match tempfile::NamedTempFile::new_in(folder)?.persist_noclobber(path) {
        Ok(_) => Ok(()),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error.error),
    }
}
