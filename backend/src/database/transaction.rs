//! A transaction sees what was stored before it began, and nothing that it decides upon changes
//! before it ends: whatever happens meanwhile, the outcome is as if all of them ran one by one.
//!
//! SQLite has one writer ([`crate::database::writer`]). On PostgreSQL transactions run beside each other, in this process and in
//! others, as SERIALIZABLE. One that met another is tried again from its beginning, a few times
//! beside the others and then alone, which cannot meet anybody: so tries have an end.

use crate::database::{Db, Store, StoreError, error::SqlError, sql::Connection};

/// LOCK comes before the transaction's snapshot, so nothing changes between them. The table is one
/// that nobody writes after the first start.
const BESIDE_OTHERS: &str =
    "BEGIN ISOLATION LEVEL SERIALIZABLE; LOCK TABLE seeds IN ROW SHARE MODE";
const ALONE: &str = "BEGIN ISOLATION LEVEL SERIALIZABLE; LOCK TABLE seeds IN EXCLUSIVE MODE";

/// Tries beside others, then alone. Alone, only a program that is not Link could be in the way.
const TRIES_BESIDE_OTHERS: u32 = 3;
const TRIES: u32 = 5;

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
    /// Begins a transaction that writes from its beginning; dropping it undoes it.
    ///
    /// # Errors
    /// [`StoreError`].
    pub(crate) async fn begin(&self, tries: &Tries) -> Result<Connection, StoreError> {
        Ok(match &self.db {
            Db::Lite { writer, .. } => Connection::LiteWriter(writer.lend().await?),
            Db::Pg(pool) => {
                let begin = if tries.are_alone() { ALONE } else { BESIDE_OTHERS };
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
        let is_beside_others = matches!(transaction, Connection::PgWriter(_));
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
            Some(met) if is_beside_others && self.may_go_on(met) => None,
            Some(_) | None => Some(outcome),
        }
    }

    const fn are_alone(&self) -> bool {
        self.failed >= TRIES_BESIDE_OTHERS
    }

    const fn may_go_on(&mut self, met: Met) -> bool {
        self.failed = match met {
            Met::Another => self.failed + 1,
            // Two that insert the same at once, or a real conflict: alone it is clear which.
            Met::Twin if self.are_alone() => TRIES,
            Met::Twin => TRIES_BESIDE_OTHERS,
        };
        self.failed < TRIES
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
