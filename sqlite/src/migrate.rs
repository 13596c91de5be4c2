//! Brings the tables of a database file up to date: applies each migration once, in order, in a transaction of its
//! own.
//!
//! The table `_sqlx_migrations` lists the migrations applied to a file, with the SHA-384 of each text. The name and the
//! columns are those of sqlx, which the first versions of Link used. This program can therefore open their files, and
//! they can open files that this program has migrated.

use std::collections::BTreeMap;

use rusqlite::{Connection, TransactionBehavior, params};
use sha2::{Digest as _, Sha384};

const BOOKKEEPING: &str = "CREATE TABLE IF NOT EXISTS _sqlx_migrations (
    version BIGINT PRIMARY KEY,
    description TEXT NOT NULL,
    installed_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    success BOOLEAN NOT NULL,
    checksum BLOB NOT NULL,
    execution_time BIGINT NOT NULL
)";
/// Records a migration. Its duration is not measured: -1 means unknown.
const APPLIED: &str = "INSERT INTO _sqlx_migrations \
     (version, description, success, checksum, execution_time) VALUES (?1, ?2, TRUE, ?3, -1)";

/// One change of the tables. Its text never changes after a release.
#[derive(Clone, Copy, Debug)]
pub struct Migration<'a> {
    pub version: i64,
    pub description: &'a str,
    pub text: &'a str,
}

/// The treatment of a file to which a migration unknown to this program was applied.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Unknown {
    /// Refuse the file, because a newer version has changed it.
    Refuse,
    /// Use the file, and ignore the additions of a newer version.
    LeaveAlone,
}

/// The tables could not be brought up to date.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// A statement of a migration, or of its bookkeeping, failed.
    #[error("failed to change the tables")]
    Failed(#[from] rusqlite::Error),
    /// A migration that this program does not know was applied to the file.
    #[error("migration {0} was applied to the database and is unknown to this program")]
    Unknown(i64),
    /// A different text of the same migration was applied to the file.
    #[error("migration {0} was applied to the database with another text")]
    Changed(i64),
}

/// Applies the `migrations` that were not yet applied to the database.
///
/// # Errors
/// [`MigrateError`] if a migration fails. The migrations before it remain applied.
pub fn migrate(
    connection: &mut Connection,
    migrations: &[Migration<'_>],
    unknown: Unknown,
) -> Result<(), MigrateError> {
    connection.execute_batch(BOOKKEEPING)?;
    let seen = seen(connection)?;
    let is_known = |version: &i64| migrations.iter().any(|known| known.version == *version);
    if unknown == Unknown::Refuse
        && let Some(version) = seen.keys().find(|version| !is_known(version))
    {
        return Err(MigrateError::Unknown(*version));
    }
    for migration in migrations {
        let checksum = Sha384::digest(migration.text).to_vec();
        match seen.get(&migration.version) {
            Some(applied) if *applied == checksum => {}
            Some(_) => return Err(MigrateError::Changed(migration.version)),
            None => apply(connection, migration, &checksum)?,
        }
    }
    Ok(())
}

/// Returns the checksum of each migration that was applied to the database.
fn seen(connection: &Connection) -> Result<BTreeMap<i64, Vec<u8>>, rusqlite::Error> {
    let mut statement = connection.prepare("SELECT version, checksum FROM _sqlx_migrations")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

fn apply(
    connection: &mut Connection,
    migration: &Migration<'_>,
    checksum: &[u8],
) -> Result<(), rusqlite::Error> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(migration.text)?;
    transaction.execute(APPLIED, params![migration.version, migration.description, checksum])?;
    transaction.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Migration<'_> =
        Migration { version: 1, description: "first", text: "CREATE TABLE a (x BIGINT)" };
    const SECOND: Migration<'_> = Migration {
        version: 2,
        description: "second",
        text: "CREATE TABLE b (x BIGINT); CREATE TABLE c (x BIGINT)",
    };

    #[test]
    fn each_migration_is_applied_once() {
        let mut file = Connection::open_in_memory().unwrap();
        migrate(&mut file, &[FIRST], Unknown::Refuse).unwrap();
        for _ in 0..2 {
            migrate(&mut file, &[FIRST, SECOND], Unknown::Refuse).unwrap();
        }
        assert_eq!(versions(&file), [1, 2]);
        file.execute_batch("SELECT x FROM a; SELECT x FROM b; SELECT x FROM c").unwrap();
    }

    #[test]
    fn a_migration_that_fails_leaves_nothing() {
        let mut file = Connection::open_in_memory().unwrap();
        let text = "CREATE TABLE b (x BIGINT); CREATE TABLE a (x BIGINT)";
        let broken = Migration { text, ..SECOND };
        let error = migrate(&mut file, &[FIRST, broken], Unknown::Refuse).unwrap_err();
        assert!(matches!(error, MigrateError::Failed(_)), "{error}");
        assert_eq!(versions(&file), [1]);
        file.execute_batch("SELECT x FROM b").unwrap_err();
    }

    #[test]
    fn another_text_under_a_version_that_was_applied_is_refused() {
        let mut file = Connection::open_in_memory().unwrap();
        migrate(&mut file, &[FIRST], Unknown::Refuse).unwrap();
        let other = Migration { text: "CREATE TABLE a (y BIGINT)", ..FIRST };
        let error = migrate(&mut file, &[other, SECOND], Unknown::LeaveAlone).unwrap_err();
        assert!(matches!(error, MigrateError::Changed(1)), "{error}");
        assert_eq!(versions(&file), [1]);
    }

    #[test]
    fn a_newer_file_is_refused_or_left_alone() {
        let mut file = Connection::open_in_memory().unwrap();
        migrate(&mut file, &[FIRST, SECOND], Unknown::Refuse).unwrap();
        let error = migrate(&mut file, &[FIRST], Unknown::Refuse).unwrap_err();
        assert!(matches!(error, MigrateError::Unknown(2)), "{error}");
        migrate(&mut file, &[FIRST], Unknown::LeaveAlone).unwrap();
        assert_eq!(versions(&file), [1, 2]);
    }

    fn versions(file: &Connection) -> Vec<i64> {
        seen(file).unwrap().into_keys().collect()
    }
}
