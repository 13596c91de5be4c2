//! Rows of either database, and the structs that they are converted to.

use rusqlite::types::FromSql;
use sqlx::{Decode, Postgres, Row as _, Type, postgres::PgRow};

use crate::database::error::SqlError;

/// The columns of one row.
#[derive(Clone, Copy)]
pub(crate) enum Columns<'r> {
    Lite(&'r rusqlite::Row<'r>),
    Pg(&'r PgRow),
}

/// A type that can be read from a column of either database.
pub(crate) trait Column:
    FromSql + for<'r> Decode<'r, Postgres> + Type<Postgres> + Send
{
}

impl<T> Column for T where T: FromSql + for<'r> Decode<'r, Postgres> + Type<Postgres> + Send {}

/// A type that can be read from a row of either database.
pub(crate) trait Row: Sized + Send {
    /// Reads a value from a row.
    ///
    /// # Errors
    /// [`SqlError`] if a column is missing or has another type.
    fn read(columns: Columns<'_>) -> Result<Self, SqlError>;
}

impl Columns<'_> {
    /// Reads the column `name`.
    ///
    /// # Errors
    /// [`SqlError`] if the column is missing or has another type.
    pub(crate) fn get<T: Column>(self, name: &str) -> Result<T, SqlError> {
        Ok(match self {
            Self::Lite(row) => row.get(name)?,
            Self::Pg(row) => row.try_get(name)?,
        })
    }

    /// Reads the column with the index `place`, counted from 0.
    fn at<T: Column>(self, place: usize) -> Result<T, SqlError> {
        Ok(match self {
            Self::Lite(row) => row.get(place)?,
            Self::Pg(row) => row.try_get(place)?,
        })
    }
}

/// Defines a struct whose fields are read from the columns of the same names.
macro_rules! row {
    ($(#[$meta:meta])* $visible:vis struct $name:ident { $($field:ident: $type:ty,)+ }) => {
        $(#[$meta])*
        $visible struct $name {
            $($field: $type,)+
        }

        impl $crate::database::sql::Row for $name {
            fn read(
                columns: $crate::database::sql::Columns<'_>,
            ) -> Result<Self, $crate::database::error::SqlError> {
                Ok(Self { $($field: columns.get(stringify!($field))?,)+ })
            }
        }
    };
}

pub(crate) use row;

/// Implements [`Row`] for tuples, which are read by the order of the columns.
macro_rules! tuples {
    ($($($type:ident $place:literal)+;)+) => {
        $(impl<$($type: Column),+> Row for ($($type,)+) {
            fn read(columns: Columns<'_>) -> Result<Self, SqlError> {
                Ok(($(columns.at::<$type>($place)?,)+))
            }
        })+
    };
}

tuples! {
    A 0;
    A 0 B 1;
    A 0 B 1 C 2;
    A 0 B 1 C 2 D 3;
}
