//! Statements that run on either database: one text with `$n` parameters, values of three kinds,
//! rows by [`Row`].
//!
//! What differs between the databases is hidden here and in [`crate::database::transaction`]. A
//! statement of SQLite runs on the thread that asks for it: most take some microseconds, less than
//! a way to another thread and back. One that may go through a whole table says so by
//! [`Query::at_length`].

mod row;
mod value;

use std::marker::PhantomData;

use rusqlite::StatementStatus;
use sqlx::{PgConnection, Postgres, Transaction, pool::PoolConnection};

pub(crate) use self::{
    row::{Column, Columns, Row, row},
    value::Value,
};
use crate::database::{
    error::SqlError,
    lite::{self, Reader},
    writer::Lent,
};

/// Where a log tells what each statement of SQLite took, in steps of its virtual machine.
const STATEMENTS: &str = "link_backend::statements";

/// The connection that statements run on.
#[derive(Debug)]
pub(crate) enum Connection {
    LiteReader(Reader),
    LiteWriter(Lent),
    PgReader(PoolConnection<Postgres>),
    PgWriter(Transaction<'static, Postgres>),
    /// Outside of a store.
    Lite(rusqlite::Connection),
    Pg(Box<PgConnection>),
}

/// A connection, by its database.
enum On<'c> {
    Lite(&'c mut rusqlite::Connection),
    Pg(&'c mut PgConnection),
}

impl Connection {
    fn on(&mut self) -> On<'_> {
        match self {
            Self::LiteReader(connection) => On::Lite(connection),
            Self::LiteWriter(lent) => On::Lite(lent),
            Self::Lite(connection) => On::Lite(connection),
            Self::PgReader(connection) => On::Pg(connection),
            Self::PgWriter(transaction) => On::Pg(transaction),
            Self::Pg(connection) => On::Pg(connection),
        }
    }
}

/// A statement with the values of its parameters.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    text: &'static str,
    values: Vec<Value>,
    is_long: bool,
}

/// A statement that answers with rows of `T`.
#[derive(Clone, Debug)]
pub(crate) struct QueryAs<T> {
    query: Query,
    row: PhantomData<fn() -> T>,
}

/// A statement that answers with rows of one column.
#[derive(Clone, Debug)]
pub(crate) struct QueryScalar<T>(QueryAs<(T,)>);

/// What a statement did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Done {
    rows: u64,
}

/// A statement whose rows nobody reads.
pub(crate) const fn query(text: &'static str) -> Query {
    Query { text, values: Vec::new(), is_long: false }
}

/// A statement that answers with rows of `T`.
pub(crate) const fn query_as<T: Row>(text: &'static str) -> QueryAs<T> {
    QueryAs { query: query(text), row: PhantomData }
}

/// A statement that answers with rows of one column.
pub(crate) const fn query_scalar<T: Column>(text: &'static str) -> QueryScalar<T> {
    QueryScalar(query_as(text))
}

impl Query {
    /// Gives the next parameter its value.
    #[must_use]
    pub(crate) fn bind(mut self, value: impl Into<Value>) -> Self {
        self.values.push(value.into());
        self
    }

    /// Says that it may go through many rows: other tasks leave its thread meanwhile.
    #[must_use]
    pub(crate) const fn at_length(mut self) -> Self {
        self.is_long = true;
        self
    }

    /// Runs the statement.
    ///
    /// # Errors
    /// Those of the database.
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

    /// Prepares it for SQLite, once for each connection, and runs it by `run`.
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
        if self.is_long { lite::at_length(whole) } else { whole() }
    }
}

impl<T: Row> QueryAs<T> {
    /// Gives the next parameter its value.
    #[must_use]
    pub(crate) fn bind(self, value: impl Into<Value>) -> Self {
        Self { query: self.query.bind(value), row: PhantomData }
    }

    /// See [`Query::at_length`].
    #[must_use]
    pub(crate) const fn at_length(mut self) -> Self {
        self.query.is_long = true;
        self
    }

    /// Returns every row.
    ///
    /// # Errors
    /// Those of the database.
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
    /// Those of the database.
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
    /// [`SqlError::NoRow`] and those of the database.
    pub(crate) async fn fetch_one(self, db: &mut Connection) -> Result<T, SqlError> {
        self.fetch_optional(db).await?.ok_or(SqlError::NoRow)
    }
}

impl<T: Column> QueryScalar<T> {
    /// Gives the next parameter its value.
    #[must_use]
    pub(crate) fn bind(self, value: impl Into<Value>) -> Self {
        Self(self.0.bind(value))
    }

    /// See [`Query::at_length`].
    #[must_use]
    pub(crate) fn at_length(self) -> Self {
        Self(self.0.at_length())
    }

    /// Returns the value of every row.
    ///
    /// # Errors
    /// Those of the database.
    pub(crate) async fn fetch_all(self, db: &mut Connection) -> Result<Vec<T>, SqlError> {
        Ok(self.0.fetch_all(db).await?.into_iter().map(|(value,)| value).collect())
    }

    /// Returns the value of the first row, if there is one.
    ///
    /// # Errors
    /// Those of the database.
    pub(crate) async fn fetch_optional(self, db: &mut Connection) -> Result<Option<T>, SqlError> {
        Ok(self.0.fetch_optional(db).await?.map(|(value,)| value))
    }

    /// Returns the value of the first row.
    ///
    /// # Errors
    /// [`SqlError::NoRow`] and those of the database.
    pub(crate) async fn fetch_one(self, db: &mut Connection) -> Result<T, SqlError> {
        Ok(self.0.fetch_one(db).await?.0)
    }
}

impl Done {
    /// Returns how many rows were inserted, changed or deleted.
    pub(crate) const fn rows_affected(self) -> u64 {
        self.rows
    }
}
