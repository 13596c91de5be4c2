//! Parameter values of three kinds, and their conversion for each database.

use rusqlite::{
    ToSql,
    types::{ToSqlOutput, ValueRef},
};
use sqlx::{Arguments as _, error::BoxDynError, postgres::PgArguments};

use crate::database::error::SqlError;

/// A parameter value. NULL has a type too, because PostgreSQL requires one.
#[derive(Clone, Debug)]
pub(crate) enum Value {
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

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Text(Some(text)) => ValueRef::Text(text.as_bytes()),
            Self::Number(Some(number)) => ValueRef::Integer(*number),
            Self::Flag(Some(flag)) => ValueRef::Integer(i64::from(*flag)),
            Self::Text(None) | Self::Number(None) | Self::Flag(None) => ValueRef::Null,
        }))
    }
}

/// Converts values to arguments for PostgreSQL.
pub(crate) fn arguments(values: Vec<Value>) -> Result<PgArguments, SqlError> {
    let mut arguments = PgArguments::default();
    for value in values {
        match value {
            Value::Text(text) => arguments.add(text),
            Value::Number(number) => arguments.add(number),
            Value::Flag(flag) => arguments.add(flag),
        }
        .map_err(|error: BoxDynError| sqlx::Error::Encode(error))?;
    }
    Ok(arguments)
}

/// Binds the parameters of an SQLite statement. SQLite numbers `$2` by its first position in the
/// text and not by its name, so parameters are looked up by name.
pub(crate) fn bind(
    statement: &mut rusqlite::Statement<'_>,
    values: &[Value],
) -> Result<(), rusqlite::Error> {
    for place in 1..=statement.parameter_count() {
        let number =
            statement.parameter_name(place).and_then(|name| name[1..].parse::<usize>().ok());
        let value = number.and_then(|number| values.get(number.checked_sub(1)?));
        let missing = || rusqlite::Error::InvalidParameterCount(values.len(), place);
        statement.raw_bind_parameter(place, value.ok_or_else(missing)?)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(text: &str, values: &[Value]) -> Result<Vec<rusqlite::types::Value>, rusqlite::Error> {
        let db = rusqlite::Connection::open_in_memory()?;
        let mut statement = db.prepare(text)?;
        bind(&mut statement, values)?;
        let columns = statement.column_count();
        let mut rows = statement.raw_query();
        let row = rows.next()?.expect("a SELECT without a table has one row");
        (0..columns).map(|place| row.get(place)).collect()
    }

    #[test]
    fn a_parameter_has_the_value_of_its_number_wherever_it_stands() {
        let values = ["one".into(), 2_i64.into(), true.into(), Value::Text(None)];
        let read = bound("SELECT $2, $4, $1, $3, $2", &values).unwrap();
        assert_eq!(
            read,
            [
                2_i64.into(),
                rusqlite::types::Null.into(),
                "one".to_owned().into(),
                1_i64.into(),
                2_i64.into()
            ]
        );
    }

    #[test]
    fn a_parameter_without_a_value_is_an_error_and_not_null() {
        bound("SELECT $1, $2", &["one".into()]).unwrap_err();
        bound("SELECT $0", &["one".into()]).unwrap_err();
        bound("SELECT ?", &["one".into()]).unwrap_err();
    }
}
