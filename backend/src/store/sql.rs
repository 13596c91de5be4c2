//! Statements that run on either database: one text with `$n` parameters, values of three kinds,
//! rows by `sqlx::FromRow`.
//!
//! It stands for sqlx's own functions of the same names. What differs between the databases is
//! hidden here and in [`crate::store::transaction`].

use std::marker::PhantomData;

use sqlx::{
    Arguments as _, Decode, FromRow, PgConnection, Postgres, Sqlite, SqliteConnection, Transaction,
    Type,
    error::BoxDynError,
    pool::PoolConnection,
    postgres::{PgArguments, PgRow},
    sqlite::{SqliteArguments, SqliteRow},
};

use crate::store::writer::Lent;

/// The connection that statements run on.
#[derive(Debug)]
pub(super) enum Connection {
    LiteReader(PoolConnection<Sqlite>),
    LiteWriter(Lent),
    PgReader(PoolConnection<Postgres>),
    PgWriter(Transaction<'static, Postgres>),
}

/// A connection, by its database.
enum On<'c> {
    Lite(&'c mut SqliteConnection),
    Pg(&'c mut PgConnection),
}

impl Connection {
    fn on(&mut self) -> On<'_> {
        match self {
            Self::LiteReader(connection) => On::Lite(connection),
            Self::LiteWriter(lent) => On::Lite(lent),
            Self::PgReader(connection) => On::Pg(connection),
            Self::PgWriter(transaction) => On::Pg(transaction),
        }
    }
}

/// A row that can be read from either database.
pub(super) trait Row:
    for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow> + Send + Unpin
{
}

impl<T> Row for T where T: for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow> + Send + Unpin
{}

/// A value that can be read from a column of either database.
pub(super) trait Column:
    for<'r> Decode<'r, Sqlite>
    + for<'r> Decode<'r, Postgres>
    + Type<Sqlite>
    + Type<Postgres>
    + Send
    + Unpin
{
}

impl<T> Column for T where
    T: for<'r> Decode<'r, Sqlite>
        + for<'r> Decode<'r, Postgres>
        + Type<Sqlite>
        + Type<Postgres>
        + Send
        + Unpin
{
}

/// A value of a parameter. NULL has a type too: PostgreSQL asks for it.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Text(Option<String>),
    Number(Option<i64>),
    Flag(Option<bool>),
}

macro_rules! value_from {
    ($variant:ident: $($from:ty => |$value:ident| $into:expr),+ $(,)?) => {
        $(impl From<$from> for Value {
            fn from($value: $from) -> Self {
                Self::$variant($into)
            }
        })+
    };
}

value_from!(Text:
    String => |text| Some(text),
    &String => |text| Some(text.clone()),
    &str => |text| Some(text.to_owned()),
    Option<String> => |text| text,
    &Option<String> => |text| text.clone(),
    Option<&str> => |text| text.map(str::to_owned),
    Option<&String> => |text| text.cloned(),
);
value_from!(Number: i64 => |number| Some(number), Option<i64> => |number| number);
value_from!(Flag: bool => |flag| Some(flag), Option<bool> => |flag| flag);

/// A statement with the values of its parameters.
#[derive(Clone, Debug)]
pub(super) struct Query {
    text: &'static str,
    values: Vec<Value>,
}

/// A statement that answers with rows of `T`.
#[derive(Clone, Debug)]
pub(super) struct QueryAs<T> {
    query: Query,
    row: PhantomData<fn() -> T>,
}

/// A statement that answers with rows of one column.
#[derive(Clone, Debug)]
pub(super) struct QueryScalar<T>(QueryAs<(T,)>);

/// What a statement did.
#[derive(Clone, Copy, Debug)]
pub(super) struct Done {
    rows: u64,
}

/// A statement whose rows nobody reads.
pub(super) const fn query(text: &'static str) -> Query {
    Query { text, values: Vec::new() }
}

/// A statement that answers with rows of `T`.
pub(super) const fn query_as<T: Row>(text: &'static str) -> QueryAs<T> {
    QueryAs { query: query(text), row: PhantomData }
}

/// A statement that answers with rows of one column.
pub(super) const fn query_scalar<T: Column>(text: &'static str) -> QueryScalar<T> {
    QueryScalar(query_as(text))
}

/// Makes arguments for one of the databases.
macro_rules! arguments {
    ($arguments:ty, $values:expr) => {{
        let mut arguments = <$arguments>::default();
        for value in $values {
            match value {
                Value::Text(text) => arguments.add(text),
                Value::Number(number) => arguments.add(number),
                Value::Flag(flag) => arguments.add(flag),
            }
            .map_err(|error: BoxDynError| sqlx::Error::Encode(error))?;
        }
        arguments
    }};
}

impl Query {
    /// Gives the next parameter its value.
    #[must_use]
    pub(super) fn bind(mut self, value: impl Into<Value>) -> Self {
        self.values.push(value.into());
        self
    }

    /// Runs the statement.
    ///
    /// # Errors
    /// Those of the database.
    pub(super) async fn execute(self, db: &mut Connection) -> Result<Done, sqlx::Error> {
        let rows = match db.on() {
            On::Lite(connection) => {
                let values = arguments!(SqliteArguments, self.values);
                sqlx::query_with(self.text, values).execute(connection).await?.rows_affected()
            }
            On::Pg(connection) => {
                let values = arguments!(PgArguments, self.values);
                sqlx::query_with(self.text, values).execute(connection).await?.rows_affected()
            }
        };
        Ok(Done { rows })
    }
}

impl<T: Row> QueryAs<T> {
    /// Gives the next parameter its value.
    #[must_use]
    pub(super) fn bind(self, value: impl Into<Value>) -> Self {
        Self { query: self.query.bind(value), row: PhantomData }
    }

    /// Returns every row.
    ///
    /// # Errors
    /// Those of the database.
    pub(super) async fn fetch_all(self, db: &mut Connection) -> Result<Vec<T>, sqlx::Error> {
        let Query { text, values } = self.query;
        match db.on() {
            On::Lite(connection) => {
                let values = arguments!(SqliteArguments, values);
                sqlx::query_as_with(text, values).fetch_all(connection).await
            }
            On::Pg(connection) => {
                let values = arguments!(PgArguments, values);
                sqlx::query_as_with(text, values).fetch_all(connection).await
            }
        }
    }

    /// Returns the first row, if there is one.
    ///
    /// # Errors
    /// Those of the database.
    pub(super) async fn fetch_optional(
        self,
        db: &mut Connection,
    ) -> Result<Option<T>, sqlx::Error> {
        let Query { text, values } = self.query;
        match db.on() {
            On::Lite(connection) => {
                let values = arguments!(SqliteArguments, values);
                sqlx::query_as_with(text, values).fetch_optional(connection).await
            }
            On::Pg(connection) => {
                let values = arguments!(PgArguments, values);
                sqlx::query_as_with(text, values).fetch_optional(connection).await
            }
        }
    }
}

impl<T: Column> QueryScalar<T> {
    /// Gives the next parameter its value.
    #[must_use]
    pub(super) fn bind(self, value: impl Into<Value>) -> Self {
        Self(self.0.bind(value))
    }

    /// Returns the value of every row.
    ///
    /// # Errors
    /// Those of the database.
    pub(super) async fn fetch_all(self, db: &mut Connection) -> Result<Vec<T>, sqlx::Error> {
        Ok(self.0.fetch_all(db).await?.into_iter().map(|(value,)| value).collect())
    }

    /// Returns the value of the first row, if there is one.
    ///
    /// # Errors
    /// Those of the database.
    pub(super) async fn fetch_optional(
        self,
        db: &mut Connection,
    ) -> Result<Option<T>, sqlx::Error> {
        Ok(self.0.fetch_optional(db).await?.map(|(value,)| value))
    }

    /// Returns the value of the first row.
    ///
    /// # Errors
    /// [`sqlx::Error::RowNotFound`] and those of the database.
    pub(super) async fn fetch_one(self, db: &mut Connection) -> Result<T, sqlx::Error> {
        self.fetch_optional(db).await?.ok_or(sqlx::Error::RowNotFound)
    }
}

impl Done {
    /// Returns how many rows were inserted, changed or deleted.
    pub(super) const fn rows_affected(self) -> u64 {
        self.rows
    }
}
