//! Operations of the backend that an agent calls, and their paths.
//!
//! Every path is below [`PREFIX`]. Readers on both sides tolerate unknown fields.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    id::{CommandId, DeviceId, ModelId},
    report::ModelReport,
    signing::Signed,
};

/// The prefix of every backend path (specification, section 9).
pub const PREFIX: &str = "/api/v1";

/// `POST` [`hello_path`]: what a device has and runs, at the start of each connection.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Hello {
    pub epoch: u64,
    /// Differs at each start of the agent's process.
    pub boot_id: String,
    #[schema(value_type = String)]
    pub agent_version: semver::Version,
    /// The highest sequence number in the journal.
    pub last_seq: u64,
    /// Commands that are in the journal and not done.
    pub inflight: Vec<Inflight>,
    pub serving: Vec<ModelReport>,
}

/// A command in a device's journal that is not done.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Inflight {
    pub command_id: CommandId,
    pub attempt: u32,
    pub running: bool,
}

/// The answer to [`Hello`]. The device is online once it has this.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Welcome {
    #[schema(value_type = String, format = DateTime)]
    pub server_time: Timestamp,
    pub epoch: u64,
    /// Everything that is not final and that the device does not have, in order.
    pub commands: Vec<Signed>,
    /// The device has come to another account: a signed [`Handover`](crate::handover::Handover)
    /// from the epoch of its hello to a later one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handover: Option<Signed>,
}

/// The answer to a poll for commands. No commands is a success.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Poll {
    #[schema(value_type = String, format = DateTime)]
    pub server_time: Timestamp,
    pub commands: Vec<Signed>,
}

/// The path of the hello.
#[must_use]
pub fn hello_path(device: DeviceId) -> String {
    format!("{PREFIX}/agent/{device}/hello")
}

/// The path of the long poll; `after` is the highest sequence number in the journal, `wait_s` how
/// many seconds the backend may hold the poll.
#[must_use]
pub fn poll_path(device: DeviceId, after: u64, wait_s: u64) -> String {
    format!("{PREFIX}/agent/{device}/commands?after={after}&wait={wait_s}")
}

/// The path of a receipt.
#[must_use]
pub fn receipt_path(device: DeviceId, command: CommandId) -> String {
    format!("{PREFIX}/agent/{device}/commands/{command}/receipt")
}

/// The path a model file that the backend holds is fetched from.
#[must_use]
pub fn content_path(device: DeviceId, model: ModelId) -> String {
    format!("{PREFIX}/agent/{device}/models/{model}/content")
}

/// The path where a device asks how it reaches the router of zenoh; the answer is a
/// [`ZenohAccess`](crate::zenoh::ZenohAccess).
#[must_use]
pub fn zenoh_path(device: DeviceId) -> String {
    format!("{PREFIX}/agent/{device}/zenoh")
}

/// The path of a device itself; `DELETE` deregisters it.
#[must_use]
pub fn device_path(device: DeviceId) -> String {
    format!("{PREFIX}/agent/{device}")
}
