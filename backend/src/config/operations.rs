//! The section `operations` of the configuration file: the processing of operations.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::config::read::number;

/// The maximum rate.
const MOST_IN_A_SECOND: u32 = 1_000;

/// The pace of operations on many devices.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct OperationsSection {
    /// The number of devices per second to which this backend sends operations, for all operations
    /// together.
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
