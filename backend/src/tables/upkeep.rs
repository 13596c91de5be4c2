//! Maintenance by an operator, with or without a running backend: inspects the database, copies a database file, and
//! prepares a restored file for use.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use link_protocol::secret::Secret;
use sqlx::{Connection as _, PgConnection};

use crate::database::{
    StoreError, lite,
    open::{FILE, MIGRATIONS},
    sql::{self, Connection},
};

/// More numbers than a device can have received since the backup. A device that gets a known sequence number takes the
/// command for the one it has.
const NUMBERS_LEFT_OUT: i64 = 1_000_000;

/// A migration that this program knows.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Migration {
    pub version: i64,
    pub description: String,
}

/// The results of an inspection.
#[derive(Clone, Debug)]
pub struct Inspection {
    /// The damage that `PRAGMA integrity_check` and the check of foreign keys find.
    pub damages: Vec<String>,
    /// The migrations that the database has.
    pub applied: Vec<i64>,
    /// The names of the model files to which the database refers.
    pub contents: Vec<String>,
    /// The time at which the newest command was stored.
    pub newest: Option<Timestamp>,
}

impl Inspection {
    /// Returns the migrations that this program would apply.
    #[must_use]
    pub fn pending(&self) -> Vec<Migration> {
        let is_new = |change: &Migration| !self.applied.contains(&change.version);
        migrations().into_iter().filter(is_new).collect()
    }

    /// Returns the newest applied migration that this program does not know, because a newer version applied it.
    #[must_use]
    pub fn unknown(&self) -> Option<i64> {
        let known = migrations();
        let is_known = |version: &i64| known.iter().any(|change| change.version == *version);
        self.applied.iter().copied().filter(|version| !is_known(version)).max()
    }
}

/// Returns the path of the database in the folder `data`.
#[must_use]
pub fn file(data: &Path) -> PathBuf {
    data.join(FILE)
}

/// Returns every migration that this program knows, in order.
#[must_use]
pub fn migrations() -> Vec<Migration> {
    let change = |change: &sqlx::migrate::Migration| Migration {
        version: change.version,
        description: change.description.to_string(),
    };
    MIGRATIONS.iter().map(change).collect()
}

/// Writes a consistent copy of the database to the new file `to`.
///
/// # Errors
/// [`StoreError::Unavailable`] if `file` cannot be read or `to` cannot be written.
pub async fn snapshot(file: &Path, to: &Path) -> Result<(), StoreError> {
    let copy = sql::query("VACUUM INTO $1").bind(to.to_string_lossy().as_ref()).maybe_slow();
    copy.execute(&mut open(file)?).await?;
    Ok(())
}

/// Inspects a database file without changing it.
///
/// # Errors
/// [`StoreError::Unavailable`] if the file cannot be read or is no database.
pub async fn inspect(file: &Path) -> Result<Inspection, StoreError> {
    let mut db = Connection::to_file(lite::open_to_read(file)?);
    let check = sql::query_scalar("PRAGMA integrity_check").maybe_slow();
    let mut damages: Vec<String> = check.fetch_all(&mut db).await?;
    damages.retain(|line| line != "ok");
    let check = sql::query_scalar("SELECT COUNT(*) FROM pragma_foreign_key_check").maybe_slow();
    let loose: i64 = check.fetch_one(&mut db).await?;
    if loose > 0 {
        damages.push(format!("{loose} rows refer to rows that are not there"));
    }
    let has_tables =
        sql::query_scalar("SELECT COUNT(*) > 0 FROM sqlite_master WHERE name = '_sqlx_migrations'");
    let has_tables = has_tables.fetch_one(&mut db).await?;
    look(&mut db, damages, has_tables).await
}

/// Inspects the database of a PostgreSQL server. The server checks its own files.
///
/// # Errors
/// [`StoreError::Unavailable`] if the server does not answer.
pub async fn inspect_server(url: &Secret) -> Result<Inspection, StoreError> {
    let mut db = Connection::to_server(PgConnection::connect(url.expose()).await?);
    let has_tables = sql::query_scalar("SELECT to_regclass('_sqlx_migrations') IS NOT NULL");
    let has_tables = has_tables.fetch_one(&mut db).await?;
    look(&mut db, Vec::new(), has_tables).await
}

/// Reads the results that both kinds of database have.
async fn look(
    db: &mut Connection,
    damages: Vec<String>,
    has_tables: bool,
) -> Result<Inspection, StoreError> {
    let mut found = Inspection { damages, applied: Vec::new(), contents: Vec::new(), newest: None };
    if has_tables {
        found.applied = sql::query_scalar(
            "SELECT version FROM _sqlx_migrations WHERE success ORDER BY version",
        )
        .fetch_all(&mut *db)
        .await?;
    }
    if !found.applied.is_empty() {
        found.contents = sql::query_scalar(
            "SELECT model_id || '.' || sha256 FROM models WHERE uploaded AND sha256 IS NOT NULL",
        )
        .fetch_all(&mut *db)
        .await?;
        let newest = sql::query_scalar("SELECT MAX(issued_ms) FROM commands").maybe_slow();
        let newest: Option<i64> = newest.fetch_one(db).await?;
        found.newest = newest.and_then(|ms| Timestamp::from_millisecond(ms).ok());
    }
    Ok(found)
}

/// Prepares a restored database: new commands get sequence numbers that no device has seen, and every login ends.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn go_on_after_restore(file: &Path) -> Result<(), StoreError> {
    let mut db = open(file)?;
    sql::query("UPDATE devices SET last_seq = last_seq + $1")
        .bind(NUMBERS_LEFT_OUT)
        .maybe_slow()
        .execute(&mut db)
        .await?;
    for logins in ["DELETE FROM refresh_tokens", "DELETE FROM sessions"] {
        sql::query(logins).execute(&mut db).await?;
    }
    Ok(())
}

fn open(file: &Path) -> Result<Connection, StoreError> {
    Ok(Connection::to_file(lite::open(file)?))
}
