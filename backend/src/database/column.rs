//! Conversions between values and columns. A value that cannot be converted back means a broken
//! database.

use std::str::FromStr;

use jiff::Timestamp;
use link_protocol::command::Sha256Hex;
use serde::{Serialize, de::DeserializeOwned};

use crate::database::StoreError;

/// The requested page of a list.
#[derive(Clone, Debug)]
pub struct Page {
    /// The id of the last item of the previous page.
    pub after: Option<String>,
    pub limit: u32,
}

pub(crate) fn ms(time: Timestamp) -> i64 {
    time.as_millisecond()
}

pub(crate) fn time(ms: i64) -> Result<Timestamp, StoreError> {
    Timestamp::from_millisecond(ms).map_err(broken)
}

pub(crate) fn optional_time(ms: Option<i64>) -> Result<Option<Timestamp>, StoreError> {
    ms.map(time).transpose()
}

pub(crate) fn parse<T>(text: &str) -> Result<T, StoreError>
where
    T: FromStr,
    T::Err: std::error::Error + Send + Sync + 'static,
{
    text.parse().map_err(broken)
}

pub(crate) fn json<T: Serialize>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(broken)
}

pub(crate) fn from_json<T: DeserializeOwned>(text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(broken)
}

/// Returns the name of a variant without fields, as in JSON.
pub(crate) fn word<T: Serialize>(value: &T) -> Result<String, StoreError> {
    json(value).map(|text| text.trim_matches('"').to_owned())
}

pub(crate) fn from_word<T: DeserializeOwned>(text: &str) -> Result<T, StoreError> {
    serde_json::from_value(serde_json::Value::from(text)).map_err(broken)
}

pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(crate) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

pub(crate) fn small(number: i64) -> u32 {
    u32::try_from(number).unwrap_or(if number < 0 { 0 } else { u32::MAX })
}

pub(crate) fn hex(digest: &[u8; 32]) -> String {
    Sha256Hex::from_digest(digest).to_string()
}

pub(crate) fn from_hex(text: &str) -> Result<[u8; 32], StoreError> {
    let mut digest = [0; 32];
    let digits = text.parse::<Sha256Hex>().map_err(broken)?;
    for (place, byte) in digest.iter_mut().enumerate() {
        let pair = digits.as_str().get(2 * place..2 * place + 2).unwrap_or_default();
        *byte = u8::from_str_radix(pair, 16).map_err(broken)?;
    }
    Ok(digest)
}

pub(crate) fn broken(error: impl std::error::Error + Send + Sync + 'static) -> StoreError {
    StoreError::Unavailable(Box::new(error))
}
