//! `model.json`: what a network expects and what its numbers mean. Pure.
//!
//! Unknown members are refused: a misspelt one would silently change every answer.

use serde::de::DeserializeOwned;

use crate::labels::InvalidLabels;

pub mod audio;
pub mod image;

/// A `model.json` that describes no network of this plugin.
#[derive(Debug, thiserror::Error)]
pub enum InvalidSettings {
    #[error("model.json is not the JSON that this plugin reads")]
    Json(#[source] serde_json::Error),
    #[error("`{member}` of model.json is {found}; allowed is {allowed}")]
    Range { member: &'static str, found: String, allowed: &'static str },
    #[error("`{member}` of model.json {fault}")]
    Conflict { member: &'static str, fault: &'static str },
    #[error("`labels` of model.json cannot be used")]
    Labels(#[source] InvalidLabels),
}

fn parse_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, InvalidSettings> {
    serde_json::from_slice(bytes).map_err(InvalidSettings::Json)
}

fn within(
    member: &'static str,
    value: u32,
    range: std::ops::RangeInclusive<u32>,
    allowed: &'static str,
) -> Result<usize, InvalidSettings> {
    if range.contains(&value) {
        return Ok(value as usize);
    }
    Err(InvalidSettings::Range { member, found: value.to_string(), allowed })
}
