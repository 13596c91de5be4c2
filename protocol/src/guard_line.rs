//! The messages between the agent and its guard: one JSON text per line.

use semver::Version;
use serde::{Deserialize, Serialize};

/// A message of the agent.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum FromAgent {
    /// The agent's main loop is running. Repeated every [`BEAT`].
    Alive {
        version: Version,
        /// The port of the local API, once the API listens.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        local_port: Option<u16>,
    },
    /// The local API has answered. Sent when the guard requests it.
    Answered {
        /// The version in the answer of `/healthz`.
        version: Version,
    },
    /// Another version is about to replace this process.
    Replacing,
}

/// A message of the guard.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum FromGuard {
    /// Asks the agent to request `/healthz` from its own local API.
    Healthz,
    /// The trial period is over, and the version is kept.
    Committed,
}

/// The interval of [`FromAgent::Alive`].
pub const BEAT: std::time::Duration = std::time::Duration::from_secs(2);
