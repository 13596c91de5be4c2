//! Opens the database: a file that only the backend's user can read, or a server at a URL. Both are durable at each
//! commit.

use std::{io, path::Path, str::FromStr as _, sync::Arc, time::Duration};

use link_protocol::secret::Secret;
use link_sqlite::migrate::{self, Migration, Unknown};
use sqlx::{
    migrate::{MigrateError, Migrator},
    postgres::{PgConnectOptions, PgPoolOptions},
};

use crate::database::{Db, Store, changes::Changes, lite, neighbours::Neighbours, writer::Writer};

pub(crate) static MIGRATIONS: Migrator = sqlx::migrate!("./migrations");

const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];
pub(crate) const FILE: &str = "link.db";
/// The number of connections to PostgreSQL. Each runs one statement, so more connections than the server has cores help
/// little.
const CONNECTIONS: u32 = 16;
/// Timeouts of PostgreSQL for a statement, for a lock, and for an idle transaction.
const PG_TIMEOUTS: [(&str, &str); 3] = [
    ("statement_timeout", "20s"),
    ("lock_timeout", "10s"),
    ("idle_in_transaction_session_timeout", "20s"),
];
/// Timeouts of PostgreSQL for migrations. A statement that changes a large table may take long, and one that was ended
/// would fail again at each start. A backend that waits for a lock keeps other backends on the database waiting, so
/// that wait is bounded.
const PG_MIGRATION_TIMEOUTS: [(&str, &str); 3] = [
    ("statement_timeout", "0"),
    ("lock_timeout", "60s"),
    ("idle_in_transaction_session_timeout", "20s"),
];
/// Compiling a statement takes longer than running it, so `jit` is off. Statistics lag behind a growing table, so plans
/// use the indexes regardless of the estimated size of the table.
const PG_PLANNER: [(&str, &str); 2] = [("jit", "off"), ("enable_seqscan", "off")];
/// The timeout for getting a connection. After it, the request is refused as overload.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);

/// The store cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The file cannot be created.
    #[error("failed to create the database file")]
    Create(#[source] io::Error),
    /// The URL is no PostgreSQL URL.
    #[error("the database URL begins with `postgres://`; without one SQLite is used")]
    Scheme,
    /// The URL is malformed.
    #[error("the database URL is not like `postgres://USER:PASSWORD@HOST:5432/DATABASE`")]
    Url(#[source] sqlx::Error),
    /// No server has answered.
    #[error(
        "no PostgreSQL server answers at the database URL; start the server, or correct the URL"
    )]
    Unreachable(#[source] sqlx::Error),
    /// The database cannot be opened.
    #[error("failed to open the database")]
    Open(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A newer version of Link has applied migrations that this version does not know.
    #[error(
        "the database was used by a newer version of Link: its schema is {schema} and this version \
         knows {known}; start that version, or restore a backup that was made before it"
    )]
    Newer { schema: i64, known: i64 },
    /// The file is malformed or is no database.
    #[error(
        "the database is damaged; keep a copy of the data folder and restore the latest backup with \
         `link-backend restore FILE --force`"
    )]
    Damaged(#[source] rusqlite::Error),
    /// The migrations failed.
    #[error("failed to migrate the database")]
    Migrate(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl Store {
    /// Opens the store: on PostgreSQL if there is a `url`, else in the existing folder `data`.
    ///
    /// # Errors
    /// [`OpenError`] if the database cannot be created, opened or migrated.
    pub async fn open(data: &Path, url: Option<&Secret>) -> Result<Self, OpenError> {
        match url {
            Some(url) => Self::open_pg(url).await,
            None => Self::open_lite(data).await,
        }
    }

    async fn open_pg(url: &Secret) -> Result<Self, OpenError> {
        let text = url.expose();
        if !SCHEMES.iter().any(|scheme| text.starts_with(scheme)) {
            return Err(OpenError::Scheme);
        }
        let options = PgConnectOptions::from_str(text).map_err(OpenError::Url)?;
        let options = options.application_name("link-backend").options(PG_PLANNER);
        let pool = |connections| {
            PgPoolOptions::new().max_connections(connections).acquire_timeout(ACQUIRE_TIMEOUT)
        };
        let migrating = options.clone().options(PG_MIGRATION_TIMEOUTS);
        let migrating = pool(1).connect_with(migrating).await.map_err(not_connected)?;
        MIGRATIONS.run(&migrating).await.map_err(not_migrated)?;
        migrating.close().await;
        let options = options.options(PG_TIMEOUTS);
        let pool = pool(CONNECTIONS).connect_with(options).await.map_err(not_connected)?;
        let neighbours = Some(Arc::new(Neighbours::new(pool.clone())));
        let changes = Changes::new(neighbours.clone());
        Ok(Self { db: Db::Pg(pool), neighbours, changes })
    }

    async fn open_lite(data: &Path) -> Result<Self, OpenError> {
        let path = data.join(FILE);
        create_private(&path).map_err(OpenError::Create)?;
        let file = path.clone();
        lite::blocking(move || migrate(&file)).await.map_err(not_opened)??;
        let readers = lite::readers(&path, ACQUIRE_TIMEOUT).map_err(not_opened)?;
        let connection = lite::open(&path).map_err(not_opened)?;
        let writer = Writer::start(connection, path, ACQUIRE_TIMEOUT);
        let changes = Changes::new(None);
        Ok(Self { db: Db::Lite { readers, writer }, neighbours: None, changes })
    }
}

/// Applies the migrations to the file.
fn migrate(file: &Path) -> Result<(), OpenError> {
    let mut connection = link_sqlite::open(file).map_err(not_opened_file)?;
    let migrations: Vec<_> = MIGRATIONS
        .iter()
        .map(|change| Migration {
            version: change.version,
            description: &change.description,
            text: change.sql.as_str(),
        })
        .collect();
    migrate::migrate(&mut connection, &migrations, Unknown::Refuse).map_err(
        |error| match error {
            migrate::MigrateError::Unknown(schema) => unknown(schema, error),
            migrate::MigrateError::Failed(cause) if is_damage(&cause) => OpenError::Damaged(cause),
            migrate::MigrateError::Failed(_) | migrate::MigrateError::Changed(_) => {
                OpenError::Migrate(Box::new(error))
            }
        },
    )?;
    connection.close().map_err(|(_, error)| not_opened(error))
}

fn not_opened_file(error: rusqlite::Error) -> OpenError {
    if is_damage(&error) { OpenError::Damaged(error) } else { not_opened(error) }
}

fn is_damage(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};

    matches!(error.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase))
}

/// A pool tries a refused connection again until its timeout, and then tells the timeout alone.
fn not_connected(error: sqlx::Error) -> OpenError {
    if matches!(error, sqlx::Error::PoolTimedOut | sqlx::Error::Io(_)) {
        OpenError::Unreachable(error)
    } else {
        not_opened(error)
    }
}

fn not_opened(error: impl std::error::Error + Send + Sync + 'static) -> OpenError {
    OpenError::Open(Box::new(error))
}

fn not_migrated(error: MigrateError) -> OpenError {
    if let MigrateError::VersionMissing(schema) = error {
        return unknown(schema, error);
    }
    OpenError::Migrate(Box::new(error))
}

/// Returns the error for a database with the migration `schema`, which this program does not know.
fn unknown(schema: i64, error: impl std::error::Error + Send + Sync + 'static) -> OpenError {
    let known = MIGRATIONS.iter().map(|migration| migration.version).max().unwrap_or(0);
    if schema > known {
        return OpenError::Newer { schema, known };
    }
    OpenError::Migrate(Box::new(error))
}

/// Creates the file with private permissions before SQLite opens it, because SQLite copies its permissions to its other
/// files.
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
