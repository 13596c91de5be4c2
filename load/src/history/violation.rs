//! The violations that a history may contain.

use std::fmt;

use link_protocol::{
    id::{CommandId, DeviceId},
    report::CommandResult,
};

/// A violated rule.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Violation {
    /// The API accepted the command but does not know it at the end.
    Lost { device: DeviceId, command: CommandId },
    /// The command was not queried at the end, so its state is unknown.
    NotObserved { device: DeviceId, command: CommandId },
    /// The API calls the command processed, but the device never received it.
    ProcessedUndelivered { device: DeviceId, command: CommandId },
    /// The command was delivered although nobody requested it.
    Unasked { device: DeviceId, command: CommandId },
    /// The command was first delivered after the API had called it expired.
    DeliveredExpired { device: DeviceId, command: CommandId },
    /// Two commands of a device share a sequence number, or one command has two.
    SequenceReused { device: DeviceId, command: CommandId },
    /// The command took effect more than once.
    EffectedTwice { device: DeviceId, command: CommandId },
    /// The command took effect before any delivery.
    EffectedUndelivered { device: DeviceId, command: CommandId },
    /// The command took effect after a later command of the same lane.
    OutOfOrder { device: DeviceId, command: CommandId },
    /// The command took effect although the device had answered that the command had expired.
    EffectedExpired { device: DeviceId, command: CommandId },
    /// The command took effect although it was cancelled.
    EffectedCancelled { device: DeviceId, command: CommandId },
    /// The device reported two different results.
    TwoResults { device: DeviceId, command: CommandId },
    /// The API shows a result that differs from the reported one.
    WrongResult { device: DeviceId, command: CommandId, told: CommandResult },
    /// The backend accepted the result, but the API does not show it.
    ResultLost { device: DeviceId, command: CommandId },
    /// The device reported success but the command never took effect.
    SuccessWithoutEffect { device: DeviceId, command: CommandId },
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (device, command, what) = match self {
            Self::Lost { device, command } => (device, command, "was accepted but is lost"),
            Self::NotObserved { device, command } => {
                (device, command, "was accepted but not queried at the end")
            }
            Self::ProcessedUndelivered { device, command } => {
                (device, command, "is called processed but was never delivered")
            }
            Self::Unasked { device, command } => {
                (device, command, "was delivered but never requested")
            }
            Self::DeliveredExpired { device, command } => {
                (device, command, "was first delivered after the API called it expired")
            }
            Self::SequenceReused { device, command } => {
                (device, command, "shares a sequence number, or has two")
            }
            Self::EffectedTwice { device, command } => (device, command, "took effect twice"),
            Self::EffectedUndelivered { device, command } => {
                (device, command, "took effect without a delivery")
            }
            Self::OutOfOrder { device, command } => {
                (device, command, "took effect after a later command of its lane")
            }
            Self::EffectedExpired { device, command } => {
                (device, command, "took effect although the device had answered that it expired")
            }
            Self::EffectedCancelled { device, command } => {
                (device, command, "took effect although it was cancelled")
            }
            Self::TwoResults { device, command } => {
                (device, command, "was reported with two different results")
            }
            Self::WrongResult { device, command, told } => {
                return write!(
                    f,
                    "{command} on {device} is shown as {told}, which the device did not report"
                );
            }
            Self::ResultLost { device, command } => {
                (device, command, "has an accepted result that the API does not show")
            }
            Self::SuccessWithoutEffect { device, command } => {
                (device, command, "was reported as done but had no effect")
            }
        };
        write!(f, "{command} on {device} {what}")
    }
}
