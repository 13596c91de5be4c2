//! Statements that run on either database: one text with `$n` parameters, values of three kinds,
//! and rows that implement [`Row`].
//!
//! The differences between the databases are hidden here and in [`crate::database::transaction`].
//! An SQLite statement runs on the calling thread, because most statements take a few microseconds,
//! less than switching to another thread and back. A statement that may read a whole table is
//! marked with [`Query::maybe_slow`].

mod row;
mod value;

use std::marker::PhantomData;

use link_protocol::id::AccountId;
use rusqlite::StatementStatus;
use sqlx::{PgConnection, Postgres, Transaction, pool::PoolConnection};

pub(crate) use self::{
    row::{Column, Columns, Row, row},
    value::Value,
};
use crate::{
    database::{
        changes::{Announcement, Changes},
        error::SqlError,
        lite::{self, Reader},
        writer::Lent,
    },
    domain::change::{Change, Subject},
};

/// The log target for the cost of each SQLite statement, in steps of its virtual machine.
const STATEMENTS: &str = "link_backend::statements";

/// A connection on which statements run, and the changes that they made.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(super) link: Link,
    changes: Vec<Change>,
    /// Hears the changes once they are committed.
    listeners: Option<Changes>,
}

#[derive(Debug)]
pub(super) enum Link {
    LiteReader(Reader),
    LiteWriter(Lent),
    PgReader(PoolConnection<Postgres>),
    PgWriter(Transaction<'static, Postgres>),
    /// A connection without a store.
    Lite(rusqlite::Connection),
    Pg(Box<PgConnection>),
}

/// A borrowed connection, by database.
enum On<'c> {
    Lite(&'c mut rusqlite::Connection),
    Pg(&'c mut PgConnection),
}

impl Connection {
    pub(super) const fn new(link: Link) -> Self {
        Self { link, changes: Vec::new(), listeners: None }
    }

    /// Makes a connection for a transaction whose changes `listeners` hear.
    pub(super) fn announcing(link: Link, listeners: &Changes) -> Self {
        Self { link, changes: Vec::new(), listeners: Some(listeners.clone()) }
    }

    /// Makes a connection to an SQLite file without a store.
    pub(crate) const fn to_file(connection: rusqlite::Connection) -> Self {
        Self::new(Link::Lite(connection))
    }

    /// Makes a connection to PostgreSQL without a store.
    pub(crate) fn to_server(connection: PgConnection) -> Self {
        Self::new(Link::Pg(Box::new(connection)))
    }

    /// Records a change, which is announced when the transaction is committed. Without an account, whoever hears the
    /// change finds the account.
    pub(crate) fn changed(&mut self, account: impl Into<Option<AccountId>>, subject: Subject) {
        if self.listeners.is_some() {
            self.changes.push(Change { account: account.into(), subject });
        }
    }

    /// Returns the connection itself, and the announcement of its changes.
    pub(super) fn into_parts(self) -> (Link, Announcement) {
        let Self { link, changes, listeners } = self;
        (link, Announcement { changes, listeners })
    }

    fn on(&mut self) -> On<'_> {
        match &mut self.link {
            Link::LiteReader(connection) => On::Lite(connection),
            Link::LiteWriter(lent) => On::Lite(lent),
            Link::Lite(connection) => On::Lite(connection),
            Link::PgReader(connection) => On::Pg(connection),
            Link::PgWriter(transaction) => On::Pg(transaction),
            Link::Pg(connection) => On::Pg(connection),
        }
    }
}

/// A statement with its parameter values.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    text: &'static str,
    values: Vec<Value>,
    is_long: bool,
}

/// A statement that returns rows of `T`.
#[derive(Clone, Debug)]
pub(crate) struct QueryAs<T> {
    query: Query,
    row: PhantomData<fn() -> T>,
}

/// A statement that returns rows of one column.
#[derive(Clone, Debug)]
pub(crate) struct QueryScalar<T>(QueryAs<(T,)>);

/// The effect of a statement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Done {
    rows: u64,
}

/// Makes a statement whose rows are not read.
pub(crate) const fn query(text: &'static str) -> Query {
    Query { text, values: Vec::new(), is_long: false }
}

/// Makes a statement that returns rows of `T`.
pub(crate) const fn query_as<T: Row>(text: &'static str) -> QueryAs<T> {
    QueryAs { query: query(text), row: PhantomData }
}

/// Makes a statement that returns rows of one column.
pub(crate) const fn query_scalar<T: Column>(text: &'static str) -> QueryScalar<T> {
    QueryScalar(query_as(text))
}

impl Query {
    /// Sets the value of the next parameter.
    #[must_use]
    pub(crate) fn bind(mut self, value: impl Into<Value>) -> Self {
        self.values.push(value.into());
        self
    }

    /// Marks the statement as one that may read many rows. Other tasks leave its thread while it
    /// runs.
    #[must_use]
    pub(crate) const fn maybe_slow(mut self) -> Self {
        self.is_long = true;
        self
    }

    /// Runs the statement.
    ///
    /// # Errors
    /// Errors of the database.
    pub(crate) async fn execute(self, db: &mut Connection) -> Result<Done, SqlError> {
        let rows = match db.on() {
            On::Lite(connection) => self.on_lite(connection, |statement| {
                Ok(u64::try_from(statement.raw_execute()?).unwrap_or(u64::MAX))
            })?,
            On::Pg(connection) => {
                let values = value::arguments(self.values)?;
                sqlx::query_with(self.text, values).execute(connection).await?.rows_affected()
            }
        };
        Ok(Done { rows })
    }

    /// Prepares the statement for SQLite, once for each connection, and calls `run` with it.
    fn on_lite<T>(
        &self,
        connection: &rusqlite::Connection,
        run: impl FnOnce(&mut rusqlite::Statement<'_>) -> Result<T, SqlError>,
    ) -> Result<T, SqlError> {
        let whole = || {
            let mut statement = connection.prepare_cached(self.text)?;
            value::bind(&mut statement, &self.values)?;
            statement.reset_status(StatementStatus::VmStep);
            let outcome = run(&mut statement);
            let steps = statement.get_status(StatementStatus::VmStep);
            tracing::trace!(target: STATEMENTS, steps, text = self.text);
            outcome
        };
        if self.is_long { lite::maybe_slow(whole) } else { whole() }
    }
}

impl<T: Row> QueryAs<T> {
    /// Sets the value of the next parameter.
    #[must_use]
    pub(crate) fn bind(self, value: impl Into<Value>) -> Self {
        Self { query: self.query.bind(value), row: PhantomData }
    }

    /// See [`Query::maybe_slow`].
    #[must_use]
    pub(crate) const fn maybe_slow(mut self) -> Self {
        self.query.is_long = true;
        self
    }

    /// Returns all rows.
    ///
    /// # Errors
    /// Errors of the database.
    pub(crate) async fn fetch_all(self, db: &mut Connection) -> Result<Vec<T>, SqlError> {
        match db.on() {
            On::Lite(connection) => self.query.on_lite(connection, |statement| {
                let mut rows = statement.raw_query();
                let mut all = Vec::new();
                while let Some(row) = rows.next()? {
                    all.push(T::read(Columns::Lite(row))?);
                }
                Ok(all)
            }),
            On::Pg(connection) => {
                let values = value::arguments(self.query.values)?;
                let rows = sqlx::query_with(self.query.text, values).fetch_all(connection).await?;
                rows.iter().map(|row| T::read(Columns::Pg(row))).collect()
            }
        }
    }

    /// Returns the first row, if there is one.
    ///
    /// # Errors
    /// Errors of the database.
    pub(crate) async fn fetch_optional(self, db: &mut Connection) -> Result<Option<T>, SqlError> {
        match db.on() {
            On::Lite(connection) => self.query.on_lite(connection, |statement| {
                let mut rows = statement.raw_query();
                rows.next()?.map(|row| T::read(Columns::Lite(row))).transpose()
            }),
            On::Pg(connection) => {
                let values = value::arguments(self.query.values)?;
                let row = sqlx::query_with(self.query.text, values).fetch_optional(connection);
                row.await?.map(|row| T::read(Columns::Pg(&row))).transpose()
            }
        }
    }

    /// Returns the first row.
    ///
    /// # Errors
    /// [`SqlError::NoRow`] and errors of the database.
    pub(crate) async fn fetch_one(self, db: &mut Connection) -> Result<T, SqlError> {
        self.fetch_optional(db).await?.ok_or(SqlError::NoRow)
    }
}

impl<T: Column> QueryScalar<T> {
    /// Sets the value of the next parameter.
    #[must_use]
    pub(crate) fn bind(self, value: impl Into<Value>) -> Self {
        Self(self.0.bind(value))
    }

    /// See [`Query::maybe_slow`].
    #[must_use]
    pub(crate) fn maybe_slow(self) -> Self {
        Self(self.0.maybe_slow())
    }

    /// Returns the values of all rows.
    ///
    /// # Errors
    /// Errors of the database.
    pub(crate) async fn fetch_all(self, db: &mut Connection) -> Result<Vec<T>, SqlError> {
        Ok(self.0.fetch_all(db).await?.into_iter().map(|(value,)| value).collect())
    }

    /// Returns the value of the first row, if there is one.
    ///
    /// # Errors
    /// Errors of the database.
    pub(crate) async fn fetch_optional(self, db: &mut Connection) -> Result<Option<T>, SqlError> {
        Ok(self.0.fetch_optional(db).await?.map(|(value,)| value))
    }

    /// Returns the value of the first row.
    ///
    /// # Errors
    /// [`SqlError::NoRow`] and errors of the database.
    pub(crate) async fn fetch_one(self, db: &mut Connection) -> Result<T, SqlError> {
        Ok(self.0.fetch_one(db).await?.0)
    }
}

impl Done {
    /// Returns the number of rows that were inserted, changed or deleted.
    pub(crate) const fn rows_affected(self) -> u64 {
        self.rows
    }
}
