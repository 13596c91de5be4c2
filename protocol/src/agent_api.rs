//! Operations of the backend that an agent calls, and their paths.
//!
//! Every path is below [`PREFIX`]. Readers on both sides tolerate unknown fields.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    counter::{Epoch, Seq},
    id::{CommandId, DeviceId, ModelId},
    report::ModelReport,
    signing::Signed,
};

/// The prefix of every backend path (specification, section 9).
pub const PREFIX: &str = "/api/v1";

/// `POST` [`hello_path`]: the journal and the models of a device, at the start of each connection.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Hello {
    #[schema(value_type = u64)]
    pub epoch: Epoch,
    /// An id that is new at each start of the agent's process.
    #[serde(deserialize_with = "crate::bounded::word")]
    pub boot_id: String,
    #[serde(deserialize_with = "crate::bounded::version")]
    #[schema(value_type = String)]
    pub agent_version: semver::Version,
    /// The highest sequence number in the journal.
    #[schema(value_type = u64)]
    pub last_seq: Seq,
    /// Unfinished commands in the journal.
    pub inflight: Vec<Inflight>,
    /// The models of the device, and removed models whose removal report was not accepted yet.
    pub serving: Vec<ModelReport>,
}

/// An unfinished command in a device's journal.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Inflight {
    pub command_id: CommandId,
    pub attempt: u32,
    pub running: bool,
}

/// The answer to [`Hello`]. It puts the device online.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Welcome {
    #[schema(value_type = String, format = DateTime)]
    pub server_time: Timestamp,
    #[schema(value_type = u64)]
    pub epoch: Epoch,
    /// The unfinished commands that the device lacks, in the order of their sequence numbers.
    pub commands: Vec<Signed>,
    /// After a transfer to another account: a signed [`Handover`](crate::handover::Handover) from
    /// the epoch of the hello to a later epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handover: Option<Signed>,
}

/// The answer to a poll for commands. An empty list is a success.
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

/// The path of the long poll. `after` is the highest sequence number in the journal; `wait_s` is
/// the longest time that the backend may hold the poll, in seconds.
#[must_use]
pub fn poll_path(device: DeviceId, after: Seq, wait_s: u64) -> String {
    format!("{PREFIX}/agent/{device}/commands?after={after}&wait={wait_s}")
}

/// The path of a receipt.
#[must_use]
pub fn receipt_path(device: DeviceId, command: CommandId) -> String {
    format!("{PREFIX}/agent/{device}/commands/{command}/receipt")
}

/// The path from which a device downloads a model file of the backend.
#[must_use]
pub fn content_path(device: DeviceId, model: ModelId) -> String {
    format!("{PREFIX}/agent/{device}/models/{model}/content")
}

/// The path where a device requests access to the zenoh router. The answer is a
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
