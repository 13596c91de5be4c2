//! What the agent and its guard tell each other, a JSON text on each line.

use semver::Version;
use serde::{Deserialize, Serialize};

/// What the agent tells.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum FromAgent {
    /// Its loop turns; told again and again.
    Alive {
        version: Version,
        /// The port of the local API, once it listens.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        local_port: Option<u16>,
    },
    /// Its local API has answered: told when the guard asks.
    Answered {
        /// What `/healthz` says of the version.
        version: Version,
    },
    /// Another version is pointed to and takes over this process now.
    Replacing,
}

/// What the guard tells.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum FromGuard {
    /// Asks the agent to ask its own local API for `/healthz`.
    Healthz,
    /// The version on trial is kept.
    Committed,
}

/// How often the agent tells that it is alive.
pub const BEAT: std::time::Duration = std::time::Duration::from_secs(2);
