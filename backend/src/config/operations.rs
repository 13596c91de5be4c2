//! How operations are worked off: the section `operations` of the configuration file.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::config::read::number;

/// The largest rate.
const MOST_IN_A_SECOND: u32 = 1_000;

/// How operations on many devices are worked off.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct OperationsSection {
    /// Devices that this backend tells in a second, for all operations together.
    #[serde(deserialize_with = "rate")]
    #[schemars(range(min = 1, max = MOST_IN_A_SECOND))]
    pub devices_per_second: u32,
}

impl Default for OperationsSection {
    fn default() -> Self {
        Self { devices_per_second: 50 }
    }
}

fn rate<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    number(deserializer, 1, MOST_IN_A_SECOND)
}
