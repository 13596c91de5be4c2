//! What must not be found in a history.

use std::fmt;

use link_protocol::{
    id::{CommandId, DeviceId},
    report::CommandResult,
};

/// A rule was broken.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Violation {
    /// The API accepted the command, and at the end nobody knows it.
    Lost { device: DeviceId, command: CommandId },
    /// It was never asked for at the end, so nothing is known of it.
    NotObserved { device: DeviceId, command: CommandId },
    /// It is called processed, and the device never got it.
    ProcessedUndelivered { device: DeviceId, command: CommandId },
    /// It was delivered, and nobody had asked for it.
    Unasked { device: DeviceId, command: CommandId },
    /// It was first delivered after the API had called it expired.
    DeliveredExpired { device: DeviceId, command: CommandId },
    /// Two commands of a device have one sequence number, or one command has two.
    SequenceReused { device: DeviceId, command: CommandId },
    /// Its effect was applied more than once.
    EffectedTwice { device: DeviceId, command: CommandId },
    /// Its effect was applied before any delivery.
    EffectedUndelivered { device: DeviceId, command: CommandId },
    /// Its effect was applied after that of a later command of the same lane.
    OutOfOrder { device: DeviceId, command: CommandId },
    /// Its effect was applied though the device had answered that it expired.
    EffectedExpired { device: DeviceId, command: CommandId },
    /// Its effect was applied though it was cancelled.
    EffectedCancelled { device: DeviceId, command: CommandId },
    /// The device reported two different results.
    TwoResults { device: DeviceId, command: CommandId },
    /// The API tells another result than the device reported.
    WrongResult { device: DeviceId, command: CommandId, told: CommandResult },
    /// The backend took the result, and the API does not tell it.
    ResultLost { device: DeviceId, command: CommandId },
    /// The device reported success of what it never did.
    SuccessWithoutEffect { device: DeviceId, command: CommandId },
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (device, command, what) = match self {
            Self::Lost { device, command } => (device, command, "was accepted and is lost"),
            Self::NotObserved { device, command } => {
                (device, command, "was accepted and not looked for at the end")
            }
            Self::ProcessedUndelivered { device, command } => {
                (device, command, "is called processed and was never delivered")
            }
            Self::Unasked { device, command } => {
                (device, command, "was delivered and nobody had asked for it")
            }
            Self::DeliveredExpired { device, command } => {
                (device, command, "was first delivered after it was called expired")
            }
            Self::SequenceReused { device, command } => {
                (device, command, "shares its sequence number, or has two")
            }
            Self::EffectedTwice { device, command } => (device, command, "took effect twice"),
            Self::EffectedUndelivered { device, command } => {
                (device, command, "took effect without a delivery")
            }
            Self::OutOfOrder { device, command } => {
                (device, command, "took effect after a later command of its lane")
            }
            Self::EffectedExpired { device, command } => {
                (device, command, "took effect after the device had called it expired")
            }
            Self::EffectedCancelled { device, command } => {
                (device, command, "took effect after it was cancelled")
            }
            Self::TwoResults { device, command } => {
                (device, command, "was reported with two different results")
            }
            Self::WrongResult { device, command, told } => {
                return write!(
                    f,
                    "{command} on {device} is told as {told}, which the device did not report"
                );
            }
            Self::ResultLost { device, command } => {
                (device, command, "has a result that was taken and is not told")
            }
            Self::SuccessWithoutEffect { device, command } => {
                (device, command, "was reported as done and had no effect")
            }
        };
        write!(f, "{command} on {device} {what}")
    }
}
