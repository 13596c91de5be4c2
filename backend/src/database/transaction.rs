//! Transactions. The records that a transaction reads under its locks do not change until it ends, so the outcome is as
//! if the transactions that share a lock ran one after the other.
//!
//! SQLite has one writer ([`crate::database::writer`]). On PostgreSQL transactions run concurrently, in this process
//! and in others, as READ COMMITTED under the locks that they name ([`crate::database::lock`]). After a deadlock, or if
//! another transaction has inserted the same row first, a transaction is retried from its beginning, a limited number
//! of times.

use tracing::Instrument as _;

use crate::database::{
    Db, Store, StoreError,
    error::SqlError,
    lock::{self, Lock},
    sql::{Connection, Link},
};

const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";

/// The maximum number of attempts for a transaction that conflicts with another one each time.
const TRIES: u32 = 5;
/// The maximum number of attempts for a transaction that inserts an existing row. The second attempt sees the row and
/// takes it into account.
const TRIES_WITH_A_TWIN: u32 = 2;

/// The PostgreSQL codes of `serialization_failure` and `deadlock_detected`.
const CONTENTION: [&str; 2] = ["40001", "40P01"];

/// The number of attempts of a transaction.
#[derive(Debug, Default)]
pub(crate) struct Tries {
    failed: u32,
}

/// An error whose cause may be an error of the store.
pub(crate) trait Cause: From<StoreError> {
    /// Returns the error of the store that is the cause, if there is one.
    fn of_store(&self) -> Option<&StoreError>;
}

impl Cause for StoreError {
    fn of_store(&self) -> Option<&StoreError> {
        Some(self)
    }
}

impl Store {
    /// Starts a write transaction under `locks`. Dropping the connection rolls it back.
    ///
    /// # Errors
    /// [`StoreError`].
    pub(crate) async fn begin(&self, locks: &[Lock]) -> Result<Connection, StoreError> {
        let link = match &self.db {
            Db::Lite { writer, .. } => Link::LiteWriter(writer.lend().await?),
            Db::Pg(pool) => {
                let begin = sqlx::AssertSqlSafe(format!("{BEGIN}{}", lock::statements(locks)));
                let pool = pool.clone();
                // This future may be dropped while it waits for a lock. sqlx rolls back a transaction that has begun, but
                // not one that is about to begin: its connection would return to the pool with the lock. A task of its own
                // is not dropped, and if nobody takes the transaction that it has begun, sqlx rolls it back.
                let begin = async move { pool.begin_with(begin).await }.in_current_span();
                let begun = tokio::spawn(begin).await;
                Link::PgWriter(begun.map_err(|ended| StoreError::Unavailable(ended.into()))??)
            }
        };
        Ok(Connection::announcing(link, &self.changes))
    }

    /// Returns a read-only connection.
    ///
    /// # Errors
    /// [`StoreError`].
    pub(crate) async fn reader(&self) -> Result<Connection, StoreError> {
        Ok(Connection::new(match &self.db {
            Db::Lite { readers, .. } => {
                Link::LiteReader(readers.get().await.map_err(SqlError::from)?)
            }
            Db::Pg(pool) => Link::PgReader(Box::pin(pool.acquire()).await?),
        }))
    }
}

impl Tries {
    /// Ends a transaction: commits it if `outcome` is a success, else rolls it back. Returns `None` if the transaction
    /// has to be retried.
    pub(crate) async fn end<T, E: Cause>(
        &mut self,
        transaction: Connection,
        outcome: Result<T, E>,
    ) -> Option<Result<T, E>> {
        let may_meet = matches!(transaction.link, Link::PgWriter(_));
        let outcome = match outcome {
            Ok(value) => commit(transaction).await.map(|()| value).map_err(E::from),
            Err(error) => {
                if let Err(cause) = undo(transaction).await {
                    // The database rolls back a transaction whose connection is lost.
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

/// A conflict of a transaction.
#[derive(Clone, Copy, Debug)]
enum Met {
    /// Another transaction changed a row that this one read, or held a lock that it waited for.
    Another,
    /// A row with the same key exists, which the transaction may not have seen.
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

/// Commits a transaction, and announces its changes.
async fn commit(connection: Connection) -> Result<(), StoreError> {
    let (link, announcement) = connection.into_parts();
    match link {
        Link::LiteWriter(lent) => lent.keep().await?,
        Link::PgWriter(transaction) => transaction.commit().await?,
        // Each of its statements was its own transaction.
        Link::LiteReader(_) | Link::PgReader(_) | Link::Lite(_) | Link::Pg(_) => {}
    }
    drop(announcement);
    Ok(())
}

async fn undo(connection: Connection) -> Result<(), StoreError> {
    match connection.link {
        Link::LiteWriter(lent) => drop(lent),
        Link::PgWriter(transaction) => transaction.rollback().await?,
        // Each of its statements was its own transaction.
        Link::LiteReader(_) | Link::PgReader(_) | Link::Lite(_) | Link::Pg(_) => {}
    }
    Ok(())
}
