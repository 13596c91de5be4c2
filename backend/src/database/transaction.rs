//! A transaction decides by what it has read under its locks, and nothing that it decides upon
//! changes before it ends: whatever happens meanwhile, the outcome is as if the transactions that
//! share a lock ran one by one.
//!
//! SQLite has one writer ([`crate::database::writer`]). On PostgreSQL transactions run concurrently,
//! in this process and in others, as READ COMMITTED under the locks that they name
//! ([`crate::database::lock`]). A deadlock, or a row that another transaction inserted first, makes a
//! transaction run again from its beginning, a bounded number of times.

use crate::database::{
    Db, Store, StoreError,
    error::SqlError,
    lock::{self, Lock},
    sql::Connection,
};

const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";

/// Runs of a transaction that meets another one each time.
const TRIES: u32 = 5;
/// Runs of a transaction that inserts what is there: the second one sees the row and decides by it.
const TRIES_WITH_A_TWIN: u32 = 2;

/// `serialization_failure` and `deadlock_detected` of PostgreSQL.
const CONTENTION: [&str; 2] = ["40001", "40P01"];

/// How often a transaction was tried.
#[derive(Debug, Default)]
pub(crate) struct Tries {
    failed: u32,
}

/// An error that may have its cause in the store.
pub(crate) trait Cause: From<StoreError> {
    /// Returns what the store said.
    fn of_store(&self) -> Option<&StoreError>;
}

impl Cause for StoreError {
    fn of_store(&self) -> Option<&StoreError> {
        Some(self)
    }
}

impl Store {
    /// Begins a transaction that writes, under `locks`; dropping it undoes it.
    ///
    /// # Errors
    /// [`StoreError`].
    pub(crate) async fn begin(&self, locks: &[Lock]) -> Result<Connection, StoreError> {
        Ok(match &self.db {
            Db::Lite { writer, .. } => Connection::LiteWriter(writer.lend().await?),
            Db::Pg(pool) => {
                let begin = sqlx::AssertSqlSafe(format!("{BEGIN}{}", lock::statements(locks)));
                Connection::PgWriter(Box::pin(pool.begin_with(begin)).await?)
            }
        })
    }

    /// Returns a connection that only reads.
    ///
    /// # Errors
    /// [`StoreError`].
    pub(crate) async fn reader(&self) -> Result<Connection, StoreError> {
        Ok(match &self.db {
            Db::Lite { readers, .. } => {
                Connection::LiteReader(readers.get().await.map_err(SqlError::from)?)
            }
            Db::Pg(pool) => Connection::PgReader(Box::pin(pool.acquire()).await?),
        })
    }
}

impl Tries {
    /// Ends a transaction: stores it when `outcome` is a success, else undoes it. Returns `None`
    /// when it has to be tried again.
    pub(crate) async fn end<T, E: Cause>(
        &mut self,
        transaction: Connection,
        outcome: Result<T, E>,
    ) -> Option<Result<T, E>> {
        let may_meet = matches!(transaction, Connection::PgWriter(_));
        let outcome = match outcome {
            Ok(value) => commit(transaction).await.map(|()| value).map_err(E::from),
            Err(error) => {
                if let Err(cause) = undo(transaction).await {
                    // The database undoes what lost its connection.
                    tracing::debug!(%cause, "a transaction could not be undone");
                }
                Err(error)
            }
        };
        let met = outcome.as_ref().err().and_then(Cause::of_store).and_then(met);
        match met {
            Some(met) if may_meet && self.may_go_on(met) => None,
            Some(_) | None => Some(outcome),
        }
    }

    const fn may_go_on(&mut self, met: Met) -> bool {
        self.failed += 1;
        self.failed
            < match met {
                Met::Another => TRIES,
                Met::Twin => TRIES_WITH_A_TWIN,
            }
    }
}

/// What a transaction met.
#[derive(Clone, Copy, Debug)]
enum Met {
    /// Another transaction that changed what it read, or held what it waited for.
    Another,
    /// A row with the same key, which it may not have been able to see.
    Twin,
}

fn met(error: &StoreError) -> Option<Met> {
    match error {
        StoreError::NotFound => None,
        StoreError::Conflict => Some(Met::Twin),
        StoreError::Unavailable(cause) => {
            let Some(SqlError::Pg(error)) = cause.downcast_ref() else { return None };
            let code = error.as_database_error()?.code()?;
            CONTENTION.contains(&code.as_ref()).then_some(Met::Another)
        }
    }
}

async fn commit(connection: Connection) -> Result<(), StoreError> {
    match connection {
        Connection::LiteWriter(lent) => lent.keep().await?,
        Connection::PgWriter(transaction) => transaction.commit().await?,
        // Each of its statements was a transaction.
        Connection::LiteReader(_)
        | Connection::PgReader(_)
        | Connection::Lite(_)
        | Connection::Pg(_) => {}
    }
    Ok(())
}

async fn undo(connection: Connection) -> Result<(), StoreError> {
    match connection {
        Connection::LiteWriter(lent) => drop(lent),
        Connection::PgWriter(transaction) => transaction.rollback().await?,
        // Each of its statements was a transaction.
        Connection::LiteReader(_)
        | Connection::PgReader(_)
        | Connection::Lite(_)
        | Connection::Pg(_) => {}
    }
    Ok(())
}
