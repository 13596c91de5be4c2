//! Migrates every committed schema to the newest one, with rows in every table. Committed migrations never change, and
//! a database that is newer than the program stays untouched.
//!
//! Each migration has a file of the same name in `fixtures`, with rows as a backend with that schema stored them.

#![expect(clippy::disallowed_methods, reason = "reads the migrations and their fixtures")]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use link_backend::{
    database::{OpenError, Page, Store},
    domain::{model_state::service, sharing::Publishers, summary::disk_percent},
    tables::{Look, ModelList},
};
use link_protocol::{id::AccountId, secret::Secret};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, migrate::Migrator};
use tempfile::TempDir;

use crate::cluster::{Cluster, Database};

/// The account of the fixtures.
const ACCOUNT: &str = "acc_01a20090ee9f711495256aa5d34edfec";

/// The rows of each table, as JSON objects.
type Rows = BTreeMap<String, Vec<Value>>;

/// A database without the backend.
enum Raw {
    Lite(rusqlite::Connection),
    Pg(PgConnection),
}

/// The place of a database.
struct Place {
    folder: TempDir,
    database: Option<Database>,
}

impl Place {
    async fn new(server: Option<&str>) -> Self {
        let database = match server {
            Some(server) => Some(Database::create(server).await),
            None => None,
        };
        Self { folder: tempfile::tempdir().unwrap(), database }
    }

    async fn raw(&self) -> Raw {
        if let Some(database) = &self.database {
            return Raw::Pg(PgConnection::connect(&database.url()).await.unwrap());
        }
        Raw::Lite(link_sqlite::create(&self.folder.path().join("link.db")).unwrap())
    }

    async fn store(&self) -> Result<Store, OpenError> {
        let url = self.database.as_ref().map(|database| Secret::new(database.url()));
        Store::open(self.folder.path(), url.as_ref()).await
    }
}

impl Raw {
    async fn migrate(&mut self, migrator: &Migrator) {
        match self {
            Self::Lite(connection) => migrate_like_sqlx(connection, migrator),
            Self::Pg(connection) => migrator.run(connection).await.unwrap(),
        }
    }

    async fn run(&mut self, text: String) {
        match self {
            Self::Lite(connection) => connection.execute_batch(&text).unwrap(),
            Self::Pg(connection) => {
                let ran = sqlx::raw_sql(AssertSqlSafe(text)).execute(connection).await;
                assert!(ran.is_ok(), "{ran:?}");
            }
        }
    }

    async fn texts(&mut self, query: String) -> Vec<String> {
        match self {
            Self::Lite(connection) => {
                let mut statement = connection.prepare(&query).unwrap();
                let rows = statement.query_map([], |row| row.get(0)).unwrap();
                rows.collect::<Result<_, _>>().unwrap()
            }
            Self::Pg(connection) => {
                sqlx::query_scalar(AssertSqlSafe(query)).fetch_all(connection).await.unwrap()
            }
        }
    }

    /// Returns every row of every table except the bookkeeping of migrations.
    async fn rows(&mut self) -> Rows {
        let tables = match self {
            Self::Lite(_) => {
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_%' \
                 ESCAPE '\\' AND name NOT LIKE 'sqlite%'"
            }
            Self::Pg(_) => {
                "SELECT CAST(tablename AS TEXT) FROM pg_tables WHERE schemaname = 'public' \
                 AND tablename NOT LIKE '\\_%'"
            }
        };
        let mut rows = Rows::new();
        for table in self.texts(tables.to_owned()).await {
            let query = match self {
                Self::Lite(_) => {
                    let names = format!("SELECT name FROM pragma_table_info('{table}')");
                    let columns = self.texts(names).await;
                    let pairs: Vec<_> =
                        columns.iter().map(|column| format!("'{column}', {column}")).collect();
                    format!("SELECT json_object({}) FROM {table}", pairs.join(", "))
                }
                Self::Pg(_) => format!("SELECT CAST(row_to_json(t) AS TEXT) FROM {table} t"),
            };
            let mut objects: Vec<String> = self.texts(query).await;
            objects.sort();
            let objects = objects.iter().map(|text| serde_json::from_str(text).unwrap());
            rows.insert(table, objects.collect());
        }
        rows
    }

    async fn close(self) {
        match self {
            Self::Lite(connection) => connection.close().unwrap(),
            Self::Pg(connection) => connection.close().await.unwrap(),
        }
    }
}

/// Applies `migrator` to a file as the first versions of the backend did with sqlx: with its table, names and checksums of
/// migrations.
fn migrate_like_sqlx(connection: &mut rusqlite::Connection, migrator: &Migrator) {
    let table = "CREATE TABLE IF NOT EXISTS _sqlx_migrations (version BIGINT PRIMARY KEY, \
         description TEXT NOT NULL, installed_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, \
         success BOOLEAN NOT NULL, checksum BLOB NOT NULL, execution_time BIGINT NOT NULL)";
    connection.execute_batch(table).unwrap();
    let applied = "INSERT INTO _sqlx_migrations (version, description, success, checksum, \
         execution_time) VALUES ($1, $2, TRUE, $3, 2566474)";
    for change in migrator.iter() {
        connection.execute_batch(change.sql.as_str()).unwrap();
        let values = (change.version, &change.description, &change.checksum);
        connection.execute(applied, values).unwrap();
    }
}

/// Returns the applied migrations of the file in the form in which sqlx compares them.
fn bookkeeping(connection: &rusqlite::Connection) -> Vec<(i64, String, bool, Vec<u8>)> {
    let query = "SELECT version, description, success, checksum FROM _sqlx_migrations";
    let mut statement = connection.prepare(query).unwrap();
    let rows = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
        .unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations")
}

/// Returns the names of the committed migrations, in order.
fn names() -> Vec<String> {
    let entries = fs::read_dir(folder()).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/store/fixtures").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| {
        panic!("{error}: every migration has rows to be tested with in {}", path.display())
    })
}

/// Returns the first `count` migrations.
async fn schema(count: usize) -> Migrator {
    let mut migrator = Migrator::new(folder()).await.unwrap();
    migrator.migrations.to_mut().truncate(count);
    migrator
}

#[test]
fn no_committed_migration_changes() {
    let golden = include_str!("migrations.sha256");
    let now: String = names()
        .iter()
        .map(|name| {
            let digest = Sha256::digest(fs::read(folder().join(name)).unwrap());
            let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{digits}  {name}\n")
        })
        .collect();
    let hint = "a committed migration never changes; a new one adds its line (sha256sum *.sql)";
    assert_eq!(now, golden, "{hint}");
}

async fn every_schema_is_brought_to_the_newest(server: Option<&str>) {
    let names = names();
    for count in 1..=names.len() {
        let place = Place::new(server).await;
        let mut raw = place.raw().await;
        raw.migrate(&schema(count).await).await;
        for name in &names[..count] {
            raw.run(fixture(name)).await;
        }
        let before = raw.rows().await;
        raw.close().await;
        for (table, rows) in &before {
            assert!(!rows.is_empty(), "schema {count}: no fixture has a row of `{table}`");
        }

        let store = place.store().await.unwrap();
        read_everything(&store).await;
        store.close().await;

        let mut raw = place.raw().await;
        let after = raw.rows().await;
        raw.close().await;
        for (table, rows) in &before {
            let found = after.get(table).unwrap_or_else(|| panic!("`{table}` is gone"));
            assert_eq!(rows.len(), found.len(), "schema {count}: {table}");
            for row in rows {
                assert!(
                    found.iter().any(|now| holds(now, row)),
                    "schema {count}: {table}: {row} is not in {found:?}"
                );
            }
        }
        for row in &after["system_samples"] {
            let report = serde_json::from_str(row["report"].as_str().unwrap()).unwrap();
            assert_eq!(row["disk_percent"], disk_percent(&report), "schema {count}");
        }
        for row in &after["model_states"] {
            let report = serde_json::from_str(row["report"].as_str().unwrap()).unwrap();
            assert_eq!(row["service"], service(&report), "schema {count}");
        }
        let typed = before["commands"][0].get("kind").is_some();
        for row in after["commands"].iter().filter(|_| !typed) {
            let command: Value = serde_json::from_str(row["command"].as_str().unwrap()).unwrap();
            assert_eq!(row["kind"], command["type"], "schema {count}");
        }
    }
}

/// Tells whether `now` has every column of `before` with its value.
fn holds(now: &Value, before: &Value) -> bool {
    let before = before.as_object().unwrap();
    before.iter().all(|(column, value)| now.get(column) == Some(value))
}

/// Checks that current types read rows of early schemas.
async fn read_everything(store: &Store) {
    let account: AccountId = ACCOUNT.parse().unwrap();
    let page = Page { after: None, limit: 10 };
    let devices = store.devices(account, Default::default(), Look::of(&page)).await.unwrap();
    assert_eq!(devices.len(), 1);
    assert_eq!(store.keys(account, None, &page).await.unwrap().len(), 1);
    store.name_accounts().await.unwrap();
    store.fill_disk_percents().await.unwrap();
    store.fill_services().await.unwrap();
    assert_eq!(store.account_name(account).await.unwrap().as_str(), "ada");
    let nobody = Publishers::default();
    assert_eq!(
        store.models(account, &nobody, &ModelList::default(), None, 10).await.unwrap().len(),
        1
    );
    let deployments =
        store.deployments(account, &Default::default(), Look::of(&page)).await.unwrap();
    let [deployment] = &deployments[..] else { panic!("{deployments:?}") };
    assert!(deployment.serving.is_some());
    assert!(store.command(deployment.record.command).await.unwrap().is_some());
    assert_eq!(store.waiting_commands(devices[0].0.id).await.unwrap().len(), 1);
    assert!(!store.allowlist(account).await.unwrap().origins().is_empty());
    assert_eq!(store.seed("commands", [0; 32]).await.unwrap(), [[0xc0, 0xde]; 16].concat()[..]);
}

#[tokio::test]
async fn every_schema_of_sqlite_is_brought_to_the_newest() {
    every_schema_is_brought_to_the_newest(None).await;
}

/// One report that nobody can read keeps no backend from starting.
#[tokio::test]
async fn an_unreadable_report_is_filled_as_one_that_says_nothing() {
    let names = names();
    let before = names.iter().position(|name| name.starts_with("0042")).unwrap();
    let place = Place::new(None).await;
    let mut raw = place.raw().await;
    raw.migrate(&schema(before).await).await;
    for name in &names[..before] {
        raw.run(fixture(name)).await;
    }
    raw.run("UPDATE system_samples SET report = '{'; UPDATE model_states SET report = ''".into())
        .await;
    raw.close().await;
    let store = place.store().await.unwrap();
    store.fill_disk_percents().await.unwrap();
    store.fill_services().await.unwrap();
    store.close().await;
    let mut raw = place.raw().await;
    let rows = raw.rows().await;
    assert_eq!(rows["system_samples"][0]["disk_percent"], -1);
    assert_eq!(rows["model_states"][0]["service"], "");
    raw.close().await;
}

#[tokio::test]
async fn the_books_of_sqlite_are_those_that_sqlx_kept() {
    let place = Place::new(None).await;
    place.store().await.unwrap().close().await;
    let mut like_sqlx = rusqlite::Connection::open_in_memory().unwrap();
    migrate_like_sqlx(&mut like_sqlx, &schema(names().len()).await);
    let file = link_sqlite::open(&place.folder.path().join("link.db")).unwrap();
    assert_eq!(bookkeeping(&file), bookkeeping(&like_sqlx));
}

#[tokio::test]
async fn every_schema_of_postgresql_is_brought_to_the_newest() {
    if let Some(mut cluster) = Cluster::start() {
        every_schema_is_brought_to_the_newest(Some(&cluster.url())).await;
        several_programs_migrate_one_database_once(&cluster.url()).await;
        a_newer_database_is_refused(Some(&cluster.url())).await;
        a_long_migration_is_not_ended(&cluster.url()).await;
        cluster.end("INT");
    }
}

async fn several_programs_migrate_one_database_once(server: &str) {
    let place = Place::new(Some(server)).await;
    let opened = futures_util::future::join_all((0..4).map(|_| place.store())).await;
    for store in opened {
        store.unwrap().close().await;
    }
}

/// A trigger records the timeouts under which each table is created.
async fn a_long_migration_is_not_ended(server: &str) {
    let place = Place::new(Some(server)).await;
    let mut raw = place.raw().await;
    let record = "CREATE SCHEMA seen; CREATE TABLE seen.timeouts (name TEXT, value TEXT); \
         CREATE FUNCTION seen.record() RETURNS event_trigger LANGUAGE plpgsql AS \
         $$BEGIN INSERT INTO seen.timeouts SELECT name, setting || COALESCE(unit, '') \
         FROM pg_settings WHERE name IN ('statement_timeout', 'lock_timeout'); END$$; \
         CREATE EVENT TRIGGER record ON ddl_command_start EXECUTE FUNCTION seen.record()";
    raw.run(record.to_owned()).await;
    raw.close().await;
    place.store().await.unwrap().close().await;
    let database = place.database.as_ref().unwrap();
    let mut connection = PgConnection::connect(&database.url()).await.unwrap();
    let timeouts: Vec<String> = sqlx::query_scalar(
        "SELECT DISTINCT name || ' ' || value AS timeout FROM seen.timeouts ORDER BY timeout",
    )
    .fetch_all(&mut connection)
    .await
    .unwrap();
    assert_eq!(timeouts, ["lock_timeout 60000ms", "statement_timeout 0ms"]);
    connection.close().await.unwrap();
}

async fn a_newer_database_is_refused(server: Option<&str>) {
    let place = Place::new(server).await;
    place.store().await.unwrap().close().await;
    let mut raw = place.raw().await;
    let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, \
         execution_time) SELECT 9999, 'later', success, checksum, 0 FROM _sqlx_migrations \
         WHERE version = 1";
    raw.run(newer.to_owned()).await;
    let before = raw.rows().await;
    raw.close().await;
    let error = place.store().await.unwrap_err();
    assert!(matches!(error, OpenError::Newer { schema: 9999, .. }), "{error:?}");
    let said = error.to_string();
    assert!(said.contains("newer version of Link") && said.contains("9999"), "{said}");
    let mut raw = place.raw().await;
    assert_eq!(raw.rows().await, before, "nothing was changed");
    raw.close().await;
}

#[tokio::test]
async fn a_newer_database_of_sqlite_is_refused() {
    a_newer_database_is_refused(None).await;
}
