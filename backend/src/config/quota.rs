//! The section `quota` of the configuration file: the limits of an account.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    config::read::count,
    domain::quota::{GIB, Quota},
};

/// The quotas of each account.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct QuotaSection {
    /// The maximum number of models.
    #[serde(deserialize_with = "count")]
    #[schemars(range(min = 1))]
    pub models: u32,
    /// The maximum size of all uploaded model files, in GiB.
    #[serde(deserialize_with = "count")]
    #[schemars(range(min = 1))]
    pub model_gib: u32,
    /// The maximum number of keys that can still register a device.
    #[serde(deserialize_with = "count")]
    #[schemars(range(min = 1))]
    pub keys: u32,
    /// The maximum number of personal access tokens of all members together.
    #[serde(deserialize_with = "count")]
    #[schemars(range(min = 1))]
    pub tokens: u32,
    /// The maximum number of open invitations.
    #[serde(deserialize_with = "count")]
    #[schemars(range(min = 1))]
    pub invitations: u32,
}

impl Default for QuotaSection {
    fn default() -> Self {
        Self { models: 500, model_gib: 200, keys: 1_000, tokens: 500, invitations: 100 }
    }
}

impl QuotaSection {
    /// Returns the limits of an account.
    #[must_use]
    pub fn quota(&self) -> Quota {
        Quota {
            models: self.models,
            model_bytes: u64::from(self.model_gib) * GIB,
            keys: self.keys,
            tokens: self.tokens,
            invitations: self.invitations,
        }
    }
}
