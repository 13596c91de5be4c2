//! How something is stored: connections, statements, transactions and their retries. What is stored is
//! the business of `tables`.
//!
//! One SQL text serves every database: `$n` parameters, times as BIGINT, identifiers and JSON as TEXT.
//! What is accepted is on disk before anybody is told.

pub(crate) mod column;
pub(crate) mod error;
pub(crate) mod fault;
pub(crate) mod lite;
pub(crate) mod lock;
pub(crate) mod neighbours;
pub(crate) mod open;
mod server_clock;
pub(crate) mod sql;
pub(crate) mod transaction;
mod writer;

pub use column::Page;
pub use error::StoreError;
pub use fault::{Fault, Passing};
pub use neighbours::Ring;
pub use open::OpenError;
pub(crate) use sql::Connection;

use std::sync::Arc;

use sqlx::PgPool;

use crate::database::{lite::Readers, neighbours::Neighbours, writer::Writer};

/// Everything that is stored.
#[derive(Clone, Debug)]
pub struct Store {
    db: Db,
    /// Where other backends can share the database.
    neighbours: Option<Arc<Neighbours>>,
}

/// The databases that can be behind a store.
#[derive(Clone, Debug)]
enum Db {
    Lite { readers: Readers, writer: Writer },
    Pg(PgPool),
}

/// Runs statements that only read.
macro_rules! read {
    ($store:expr, |$connection:ident| $body:expr) => {{
        let mut connection = $store.reader().await?;
        let $connection: &mut $crate::database::Connection = &mut connection;
        $body
    }};
}

/// Runs a block as one transaction under locks that name what it decides about (`tables::locks`);
/// leaving the block early undoes what it did. A transaction without a lock decides nothing: each of
/// its statements is right whatever was stored before.
///
/// The block may run several times, each time as if for the first time: on PostgreSQL a transaction
/// that conflicts with another one is retried. So the block borrows or clones what it uses, and
/// nothing that it does reaches beyond the database: who waits is woken afterwards.
macro_rules! write {
    ($store:expr, $locks:expr, |$connection:ident| $body:block) => {{
        let mut tries = $crate::database::transaction::Tries::default();
        loop {
            let mut transaction = $store.begin(&$locks).await?;
            let outcome = {
                let $connection: &mut $crate::database::Connection = &mut transaction;
                async { Ok($body) }.await
            };
            match tries.end(transaction, outcome).await {
                Some(Ok(value)) => break value,
                Some(Err(error)) => return Err(error),
                None => {}
            }
        }
    }};
}

pub(crate) use {read, write};

impl Store {
    /// Tells whether other backends may use the database.
    #[must_use]
    pub const fn is_shared(&self) -> bool {
        matches!(self.db, Db::Pg(_))
    }

    /// Closes every connection, when all statements that run have ended.
    pub async fn close(&self) {
        match &self.db {
            Db::Lite { readers, writer } => {
                readers.close();
                writer.close().await;
            }
            Db::Pg(pool) => pool.close().await,
        }
    }
}
