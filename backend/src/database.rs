//! Storage: connections, statements, transactions and their retries. `tables` defines the stored data.
//!
//! One SQL text works on every database: parameters are `$n`, times are BIGINT, and identifiers and JSON are TEXT.
//! Accepted data is on disk before the request is answered.

pub(crate) mod changes;
pub(crate) mod column;
pub(crate) mod error;
pub(crate) mod fault;
pub(crate) mod lite;
pub(crate) mod lock;
pub(crate) mod neighbours;
pub(crate) mod open;
mod peers;
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

use crate::database::{changes::Changes, lite::Readers, neighbours::Neighbours, writer::Writer};

/// The store: a database behind a common interface.
#[derive(Clone, Debug)]
pub struct Store {
    db: Db,
    /// The other backends on the database, if it can be shared.
    neighbours: Option<Arc<Neighbours>>,
    changes: Changes,
}

/// The supported databases.
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

/// Runs a block as one transaction under locks, which name the records that its decisions depend on (`tables::locks`).
/// Leaving the block early rolls the transaction back. A transaction without locks makes no decisions: each of its
/// statements is correct whatever was stored before.
///
/// The block may run several times, because PostgreSQL makes a conflicting transaction retry. So the block borrows or
/// clones what it uses and has no effect outside the database: waiting tasks are woken after it.
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

    /// Closes every connection after the running statements have ended.
    pub async fn close(&self) {
        match &self.db {
            Db::Lite { readers, writer } => {
                readers.close();
                writer.close().await;
            }
            Db::Pg(pool) => {
                if let Some(neighbours) = &self.neighbours {
                    neighbours.tell_the_last_changes().await;
                }
                pool.close().await;
            }
        }
    }
}
