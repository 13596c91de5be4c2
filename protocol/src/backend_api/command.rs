//! Commands as clients of the API see them: a state (`sent`, `processed` or `expired`) and a
//! separate result.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    command::CommandKind,
    id::{CommandId, DeviceId, ModelId},
    port::Port,
    report::CommandResult,
};

/// The states of a command (specification, section 3.3).
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CommandState {
    /// Stored or delivered, but not acknowledged. A superseded command stays in this state.
    Sent,
    /// Acknowledged by the device; possibly ended since.
    Processed,
    /// Not acknowledged in time.
    Expired,
}

/// A command to a device; also the answer to repair, serve, stop and uninstall.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct CommandInfo {
    pub command_id: CommandId,
    pub r#type: CommandKind,
    pub state: CommandState,
    pub model_id: Option<ModelId>,
    /// The name of the model, if it still exists. Answers to requests that change something leave it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_name: Option<String>,
    pub device_id: DeviceId,
    /// The name of the device, if it still exists. Answers to requests that change something leave it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_name: Option<String>,
    /// The requested port.
    pub port: Option<Port>,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
    /// The result that the device has reported. Without a report: `superseded` if a newer command
    /// has replaced this command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<CommandOutcome>,
    /// The newer command that replaced this command before the device had acknowledged it. If the
    /// device reports a result nevertheless, it has carried out this command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<CommandId>,
    /// A note about the sending of the command, such as that the device is being updated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The result of a command.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct CommandOutcome {
    pub status: OutcomeStatus,
    pub output: String,
    #[schema(value_type = String, format = DateTime)]
    pub reported_at: Timestamp,
}

/// How a command ended, for clients of the API.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeStatus {
    Succeeded,
    Failed,
    Rejected,
    Cancelled,
    /// A newer command replaced this command, and the device has reported no result of this
    /// command.
    Superseded,
}

impl OutcomeStatus {
    /// Returns the result that the device reported; `None` if the status comes from the backend
    /// alone.
    #[must_use]
    pub const fn reported(self) -> Option<CommandResult> {
        match self {
            Self::Succeeded => Some(CommandResult::Succeeded),
            Self::Failed => Some(CommandResult::Failed),
            Self::Rejected => Some(CommandResult::Rejected),
            Self::Cancelled => Some(CommandResult::Cancelled),
            Self::Superseded => None,
        }
    }
}

impl From<CommandResult> for OutcomeStatus {
    fn from(result: CommandResult) -> Self {
        match result {
            CommandResult::Succeeded => Self::Succeeded,
            CommandResult::Failed => Self::Failed,
            CommandResult::Rejected => Self::Rejected,
            CommandResult::Cancelled => Self::Cancelled,
        }
    }
}

impl PartialEq<CommandResult> for OutcomeStatus {
    fn eq(&self, other: &CommandResult) -> bool {
        self.reported() == Some(*other)
    }
}

impl fmt::Display for OutcomeStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reported() {
            Some(result) => result.fmt(f),
            None => f.write_str("superseded"),
        }
    }
}

/// `?port=` of repair and serve.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct PortQuery {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<String>,
}

/// The stage of a command, in more detail than its state.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CommandStage {
    /// Stored, and not delivered yet.
    Queued,
    /// Delivered, but not acknowledged.
    Delivered,
    /// Acknowledged by the device, which has not reported a result.
    Acknowledged,
    /// The device has reported a result.
    Ended,
    /// Not acknowledged in time.
    Expired,
    /// Replaced by a newer command before the device acknowledged it.
    Superseded,
}

/// `GET /commands/{command_id}/explanation`: the stage of a command, explained in plain words.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct CommandExplanation {
    pub command: CommandInfo,
    pub stage: CommandStage,
    /// The number of deliveries so far.
    pub deliveries: u32,
    /// The time of the next delivery, if there is one.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub next_delivery_at: Option<Timestamp>,
    pub device_online: bool,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub device_last_seen_at: Option<Timestamp>,
    /// What has happened so far.
    pub happened: String,
    pub why: String,
    /// What happens next.
    pub next: String,
}
