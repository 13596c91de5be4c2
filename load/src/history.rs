//! What happened in a run, event by event, and whether it may have happened.
//!
//! Pure. The rules, for every device and command:
//!
//! 1. A command that the API accepted is known at the end: delivered and processed, expired or
//!    superseded, or still waiting. It is never lost, and never processed without a delivery.
//! 2. Nothing is delivered that nobody asked for, and nothing first delivered long after the API
//!    called it expired.
//! 3. An effect is applied once, after a delivery, and in the order of `seq` within its lane.
//! 4. What the device answered with `expired` has no effect, nor has what it reported as cancelled,
//!    nor a deployment after its cancellation was done.
//! 5. The result that the API tells is the one that the device reported, and one that the backend
//!    took is told.
//!
//! A command may take effect although the API calls it expired by then: it was in the device's
//! journal, the receipt was lost, and a newer wish superseded it. Rule 3 keeps the newer one last.

mod check;
mod violation;

use link_protocol::{
    backend_api::command::CommandState,
    command::Lane,
    envelope::ReceiptKind,
    id::{CommandId, DeploymentId, DeviceId},
    report::CommandResult,
};
use serde::{Deserialize, Serialize};

pub use self::{check::check, violation::Violation};

/// One thing that was seen, and when.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Event {
    /// Microseconds of [`crate::clock`].
    pub at_us: u64,
    pub device: DeviceId,
    #[serde(flatten)]
    pub what: What,
}

/// What was seen.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum What {
    /// The API accepted a wish as this command.
    Accepted { command: CommandId },
    /// A wish was sent and no answer came: it may have been accepted.
    Unanswered,
    /// The device got the command.
    Delivered {
        command: CommandId,
        seq: u64,
        lane: Lane,
        attempt: u32,
        /// The deployment that the command makes or ends.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deployment: Option<DeploymentId>,
        /// Whether it ends the deployment.
        #[serde(default)]
        cancels: bool,
    },
    /// The device answered a delivery; `taken` when the backend said that it noted it.
    Receipted { command: CommandId, receipt: ReceiptKind, taken: bool },
    /// The device did what the command asks.
    Effected { command: CommandId },
    /// The device reported a result; `taken` when the backend said that it noted it.
    Resulted { command: CommandId, status: CommandResult, taken: bool },
    /// The API was asked for the command.
    Observed { command: CommandId, state: CommandState, result: Option<CommandResult> },
    /// The API did not know the command.
    Missing { command: CommandId },
}

impl What {
    /// Returns the command that the event is about.
    #[must_use]
    pub const fn command(&self) -> Option<CommandId> {
        match self {
            Self::Accepted { command }
            | Self::Delivered { command, .. }
            | Self::Receipted { command, .. }
            | Self::Effected { command }
            | Self::Resulted { command, .. }
            | Self::Observed { command, .. }
            | Self::Missing { command } => Some(*command),
            Self::Unanswered => None,
        }
    }
}

#[cfg(test)]
mod tests;
