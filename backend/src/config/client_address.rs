//! The source of a client's address.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The source of a client's address.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum ClientAddress {
    #[default]
    Connection,
    /// The last entry of `X-Forwarded-For`: only behind a proxy that writes it.
    Forwarded,
}
