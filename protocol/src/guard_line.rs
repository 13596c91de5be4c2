//! The messages between the agent and its guard: one JSON text per line.

use semver::Version;
use serde::{Deserialize, Serialize};

/// A message of the agent.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum FromAgent {
    /// The loop of the agent runs; repeated at an interval.
    Alive {
        version: Version,
        /// The port of the local API, once it listens.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        local_port: Option<u16>,
    },
    /// The local API has answered; sent when the guard asks.
    Answered {
        /// What `/healthz` says of the version.
        version: Version,
    },
    /// Another version takes over this process now.
    Replacing,
}

/// A message of the guard.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum FromGuard {
    /// Asks the agent to ask its own local API for `/healthz`.
    Healthz,
    /// The trial is over: the version stays.
    Committed,
}

/// How often the agent reports that it is alive.
pub const BEAT: std::time::Duration = std::time::Duration::from_secs(2);
