//! The store: what is accepted is on disk before anybody is told.
//!
//! Methods speak of accounts, devices and commands and return types of the domain; one file for
//! each aggregate. One SQL text serves every database: `$n` parameters, times as BIGINT, identifiers
//! and JSON as TEXT. A decision that depends on what is stored is a pure function that runs inside
//! the transaction which stores its outcome.

mod accounts;
mod audit;
mod column;
mod command_list;
mod commands;
mod counts;
mod deliveries;
mod deployments;
mod device_codes;
mod devices;
mod fault;
mod fleets;
mod idempotency;
mod invitations;
mod keys;
mod lite;
mod members;
mod models;
mod neighbours;
mod open;
mod presence;
mod reports;
mod sessions;
mod settings;
mod slots;
mod sql;
mod sweep;
mod systems;
mod tokens;
mod transaction;
mod transfer;
pub mod upkeep;
mod usage;
mod writer;

pub use column::Page;
pub use command_list::CommandFilter;
pub use counts::Counts;
pub use deliveries::Taken;
pub use deployments::{DeploymentFilter, DeploymentView, NewDeployment};
pub use fault::Passing;
pub use idempotency::Claim;
pub use neighbours::Ring;
pub use open::OpenError;
pub use slots::SlotTurn;
pub use sweep::Outdated;
pub use usage::UsageFilter;

use std::sync::Arc;

use sqlx::PgPool;

use crate::store::{lite::Readers, neighbours::Neighbours, sql::Connection, writer::Writer};

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

/// The store could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// What was to be changed is not there.
    #[error("it is not stored")]
    NotFound,
    /// Something that must be unique exists.
    #[error("it exists")]
    Conflict,
    /// The database did not answer, or holds what nobody can read.
    #[error("the database failed")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Runs statements that only read.
macro_rules! read {
    ($store:expr, |$connection:ident| $body:expr) => {{
        let mut connection = $store.reader().await?;
        let $connection: &mut $crate::store::Connection = &mut connection;
        $body
    }};
}

/// Runs statements in one transaction, which writes from its beginning; leaving it early undoes
/// them. They may run several times, each time as if for the first time, so what they use is
/// borrowed or cloned.
macro_rules! write {
    ($store:expr, |$connection:ident| $body:block) => {{
        let mut tries = $crate::store::transaction::Tries::default();
        loop {
            let mut transaction = $store.begin(&tries).await?;
            let outcome = {
                let $connection: &mut $crate::store::Connection = &mut transaction;
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

use {read, write};

impl Store {
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
