//! The store: what is accepted is on disk before anybody is told.
//!
//! Methods speak of accounts, devices and commands and return types of the domain; one file for
//! each aggregate. One SQL text serves every database: `$n` parameters, times as BIGINT, identifiers
//! and JSON as TEXT. A decision that depends on what is stored is a pure function that runs inside
//! the transaction which stores its outcome.

mod accounts;
mod column;
mod commands;
mod counts;
mod deployments;
mod devices;
mod idempotency;
mod keys;
mod models;
mod open;
mod reports;
mod sessions;
mod settings;
mod sweep;
mod systems;
pub mod upkeep;

pub use column::Page;
pub use counts::Counts;
pub use deployments::{DeploymentFilter, DeploymentView, NewDeployment};
pub use idempotency::Claim;
pub use open::OpenError;

use sqlx::SqlitePool;

/// The connection that a transaction's statements run on.
type Connection = sqlx::SqliteConnection;

/// Everything that is stored.
#[derive(Clone, Debug)]
pub struct Store {
    db: Db,
}

/// The databases that can be behind a store. SQLite has one writer.
#[derive(Clone, Debug)]
enum Db {
    Lite { reader: SqlitePool, writer: SqlitePool },
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

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        if matches!(error, sqlx::Error::RowNotFound) {
            return Self::NotFound;
        }
        match error.as_database_error() {
            Some(cause) if cause.is_unique_violation() => Self::Conflict,
            Some(_) | None => Self::Unavailable(Box::new(error)),
        }
    }
}

/// Runs a query on a pool that only reads.
macro_rules! read {
    ($store:expr, |$pool:ident| $body:expr) => {
        match &$store.db {
            $crate::store::Db::Lite { reader: $pool, .. } => $body,
        }
    };
}

/// Runs statements in one transaction, which writes from its beginning; leaving it early undoes
/// them.
macro_rules! write {
    ($store:expr, |$connection:ident| $body:block) => {
        match &$store.db {
            $crate::store::Db::Lite { writer, .. } => {
                let mut transaction = writer
                    .begin_with("BEGIN IMMEDIATE")
                    .await
                    .map_err($crate::store::StoreError::from)?;
                let $connection: &mut $crate::store::Connection = &mut transaction;
                let value = $body;
                transaction.commit().await.map_err($crate::store::StoreError::from)?;
                value
            }
        }
    };
}

use {read, write};

impl Store {
    /// Closes every connection, when all statements that run have ended.
    pub async fn close(&self) {
        match &self.db {
            Db::Lite { reader, writer } => {
                reader.close().await;
                writer.close().await;
            }
        }
    }
}
