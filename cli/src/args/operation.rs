//! `link operation`, and the selection of many devices.

use std::time::Duration;

use clap::{Args, Subcommand};
use link_protocol::{backend_api::operation::ItemState, selector::Selector};

use crate::args::{Wait, parse_duration};

/// Many devices, instead of one.
#[derive(Args, Clone, Debug)]
pub struct Many {
    /// Selection of devices, such as `tag=lab,state=online`, instead of one device; the backend runs it as an
    /// operation, which continues when this command ends
    #[arg(long, value_name = "SELECTION")]
    pub select: Option<Selector>,
    /// Show the devices that match, and change nothing
    #[arg(long, requires = "select")]
    pub dry_run: bool,
}

/// A selection of devices to work on.
#[derive(Clone, Copy, Debug)]
pub struct Selection<'a> {
    pub devices: &'a Selector,
    /// Whether the devices that match are only shown.
    pub dry_run: bool,
}

impl Many {
    /// Returns the selection, if many devices are meant.
    #[must_use]
    pub fn selection(&self) -> Option<Selection<'_>> {
        self.select.as_ref().map(|devices| Selection { devices, dry_run: self.dry_run })
    }
}

/// `link operation …`.
#[derive(Debug, Subcommand)]
pub enum OperationCommand {
    /// List operations, newest first
    #[command(after_help = "Example:\n  link operation list --limit 10")]
    List {
        /// Largest number of operations
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100))]
        limit: u32,
    },
    /// Show an operation and its result on each device
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        /// Operation, by id or by the beginning of its id
        #[arg(value_name = "ID")]
        operation: String,
        /// Only devices in this state: pending, sent, succeeded, failed, skipped or cancelled
        #[arg(long, value_name = "STATE", value_parser = parse_state)]
        state: Option<ItemState>,
    },
    /// Send no further command of an operation; devices whose command was sent continue, offline ones when they are back
    #[command(after_help = "Example:\n  link operation cancel op_0198d2f0c3a17b5f8a6e4d2c1b0a9f8e")]
    Cancel {
        /// Operation, by id or by the beginning of its id
        #[arg(value_name = "ID")]
        operation: String,
    },
    /// Retry an operation on the devices that failed
    #[command(after_help = RETRY_EXAMPLES)]
    Retry {
        /// Operation, by id or by the beginning of its id
        #[arg(value_name = "ID")]
        operation: String,
        #[command(flatten)]
        wait: Wait<1800>,
    },
    /// Wait until an operation ends, and show its results
    #[command(after_help = WAIT_EXAMPLES)]
    Wait {
        /// Operation, by id or by the beginning of its id
        #[arg(value_name = "ID")]
        operation: String,
        /// Longest wait, such as `60s`, `5m` or `1h`
        #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "30m")]
        timeout: Duration,
    },
}

const SHOW_EXAMPLES: &str = "\
Examples:
  link operation show op_0198d2f0c3a17b5f8a6e4d2c1b0a9f8e
  link operation show op_0198d2f0c3a17b5f8a6e4d2c1b0a9f8e --state failed --json

Pending: the backend has not sent the operation to the device. Sent: the device has received the operation,
or receives it when it is online. An offline device stays in `sent` for a stop, a removal or an update (up to
24 hours) and for a deployment (up to five minutes). A repair or a serve fails on an offline device; run
`link operation retry` to repeat it later. Tags and names change at once. Skipped: the model is not on the
device, or the device left the account.";

const RETRY_EXAMPLES: &str = "\
Examples:
  link operation retry op_0198d2f0c3a17b5f8a6e4d2c1b0a9f8e
  link operation retry op_0198d2f0c3a17b5f8a6e4d2c1b0a9f8e --wait --timeout 1h";

const WAIT_EXAMPLES: &str = "\
Examples:
  link operation wait op_0198d2f0c3a17b5f8a6e4d2c1b0a9f8e
  link operation wait op_0198d2f0c3a17b5f8a6e4d2c1b0a9f8e --timeout 2h --json

Exit code 0: every device succeeded or was skipped. 1: a device failed, or the operation was cancelled.
75: the wait timed out; the operation continues. 130: Ctrl-C; the operation continues.";

fn parse_state(text: &str) -> Result<ItemState, String> {
    let found = ItemState::ALL.into_iter().find(|state| state.as_str() == text);
    let names = || ItemState::ALL.map(ItemState::as_str).join(", ");
    found.ok_or_else(|| format!("a state is one of: {}", names()))
}
