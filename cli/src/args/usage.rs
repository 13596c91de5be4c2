//! `link usage`.

use clap::{Args, ValueEnum};

use crate::args::Moment;

/// `link usage`.
#[derive(Args, Debug)]
pub struct Usage {
    /// What the rows of the table are
    #[arg(long, value_enum, value_name = "GROUP", default_value = "model")]
    pub by: UsageGroupArg,
    /// Only the usage of this model, by name or id
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Only the usage on this device, by name or id
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<String>,
    /// From this time, such as `today`, `12h` (twelve hours ago) or `2027-01-31` [default: 30 days ago]
    #[arg(long, value_name = "TIME")]
    pub since: Option<Moment>,
    /// Until this time [default: now]
    #[arg(long, value_name = "TIME")]
    pub until: Option<Moment>,
}

/// What the usage of one row has in common.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum UsageGroupArg {
    Model,
    Device,
    /// The tags that devices have now; a device counts in each of its tags
    Tag,
}

pub(super) const EXAMPLES: &str = "\
A period of up to two days begins and ends with a whole hour, a longer one with a whole day (UTC). Times to the first token
and tokens per second are medians. An inference is uncounted if the engine did not say how many tokens it had.

Examples:
  link usage
  link usage --by device --since today
  link usage --model smollm --since 7d --json";
