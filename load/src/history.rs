//! The events of a run, and the rules that they must obey.
//!
//! Pure. The rules, for every device and command:
//!
//! 1. A command that the API accepted is known at the end: it was processed after a delivery,
//!    expired, was superseded, or still waits. It is never lost, and never processed without a
//!    delivery.
//! 2. Only requested commands are delivered, and none is first delivered long after the API called
//!    it expired.
//! 3. An effect is applied once, after a delivery, and in the order of `seq` within its lane.
//! 4. A command has no effect if the device answered `expired` or reported it as cancelled, and a
//!    deployment has none after its cancellation was done.
//! 5. The API shows the result that the device reported, and shows every result that the backend
//!    accepted.
//!
//! A command may take effect although the API already calls it expired: it was in the device's
//! journal, its receipt was lost, and a newer command superseded it. Rule 3 then makes the newer
//! one take effect last.

mod check;
mod violation;

use link_protocol::{
    backend_api::command::CommandState,
    command::Lane,
    counter::Seq,
    envelope::ReceiptKind,
    id::{CommandId, DeploymentId, DeviceId},
    report::CommandResult,
};
use serde::{Deserialize, Serialize};

pub use self::{check::check, violation::Violation};

/// An event and its time.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Event {
    /// The time, in microseconds of [`crate::clock`].
    pub at_us: u64,
    pub device: DeviceId,
    #[serde(flatten)]
    pub what: What,
}

/// The kind of an event.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum What {
    /// The API accepted a request as this command.
    Accepted { command: CommandId },
    /// A request got no answer; the API may have accepted it.
    Unanswered,
    /// The device received the command.
    Delivered {
        command: CommandId,
        seq: Seq,
        lane: Lane,
        attempt: u32,
        /// The deployment that the command creates or cancels.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deployment: Option<DeploymentId>,
        /// Whether the command cancels the deployment.
        #[serde(default)]
        cancels: bool,
    },
    /// The device answered a delivery. `taken` tells whether the backend confirmed the receipt.
    Receipted { command: CommandId, receipt: ReceiptKind, taken: bool },
    /// The command took effect on the device.
    Effected { command: CommandId },
    /// The device reported a result. `taken` tells whether the backend confirmed it.
    Resulted { command: CommandId, status: CommandResult, taken: bool },
    /// The API returned the state of the command.
    Observed { command: CommandId, state: CommandState, result: Option<CommandResult> },
    /// The API did not know the command.
    Missing { command: CommandId },
}

impl What {
    /// Returns the command that the event concerns.
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
