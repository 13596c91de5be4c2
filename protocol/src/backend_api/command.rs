//! Commands as the outside sees them: `sent`, `processed`, `expired`, and a result beside it.

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
    /// Stored or delivered, not acknowledged; so is a command that was superseded.
    Sent,
    /// Acknowledged by the device, or later.
    Processed,
    /// Not acknowledged in time.
    Expired,
}

/// A command; also the answer to a repair and to serve, stop and uninstall.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct CommandInfo {
    pub command_id: CommandId,
    pub r#type: CommandKind,
    pub state: CommandState,
    pub model_id: Option<ModelId>,
    pub device_id: DeviceId,
    /// The port that was asked for.
    pub port: Option<Port>,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
    /// What the device reported, once it has; until then, that a newer command took its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<CommandOutcome>,
    /// The newer command that took its place before the device had acknowledged this one. A result
    /// of the device beside it says that this one was carried out all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<CommandId>,
    /// What a person should know of it when it is sent: that the device is being updated, for one.
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

/// How a command ended, as the outside sees it.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeStatus {
    Succeeded,
    Failed,
    Rejected,
    Cancelled,
    /// A newer command took its place, and the device has reported nothing of this one.
    Superseded,
}

impl OutcomeStatus {
    /// Returns what the device reported; nothing when the backend alone says how it ended.
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

/// How far a command is, in more detail than its state.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CommandStage {
    /// Stored, and to be delivered.
    Queued,
    /// Delivered without an answer.
    Delivered,
    /// Kept by the device, which has not reported a result.
    Acknowledged,
    /// The device has reported a result.
    Ended,
    /// Not acknowledged in time.
    Expired,
    /// A newer wish took its place, and the device has not acknowledged it.
    Superseded,
}

/// `GET /commands/{command_id}/explanation`: where a command is, in plain words.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct CommandExplanation {
    pub command: CommandInfo,
    pub stage: CommandStage,
    /// How often it was delivered.
    pub deliveries: u32,
    /// When it is delivered (again), if it is.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub next_delivery_at: Option<Timestamp>,
    pub device_online: bool,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub device_last_seen_at: Option<Timestamp>,
    /// What happened so far.
    pub happened: String,
    pub why: String,
    /// What happens next.
    pub next: String,
}
