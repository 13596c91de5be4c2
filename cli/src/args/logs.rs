//! `link logs`.

use clap::{Args, ValueEnum};
use link_protocol::report::Severity;

/// `link logs`.
#[derive(Args, Clone, Debug)]
pub struct Logs {
    /// Device, by id or name [default: this machine]
    pub device: Option<String>,
    /// Print new records as they arrive, until Ctrl-C
    #[arg(long, short)]
    pub follow: bool,
    /// Only records at least this severe
    #[arg(long, value_name = "SEVERITY")]
    pub severity: Option<SeverityArg>,
    /// Only records that name this model, by id or name; with --local also the log of its engine
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Largest number of records, or of lines with --local; the newest come last
    #[arg(short = 'n', long, visible_alias = "tail", value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub limit: u32,
    /// Read the logs on this machine, of the agent, its guard and the engines, instead of the records at the backend
    #[arg(long, conflicts_with = "device")]
    pub local: bool,
    /// With --local: only lines about this request, by the value of its header X-Request-Id
    #[arg(long, value_name = "ID", requires = "local")]
    pub request: Option<String>,
}

/// How severe a record is.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum SeverityArg {
    /// Every record
    Info,
    /// Warnings and worse
    Warning,
    /// Errors and worse
    Error,
    /// Only critical records
    Critical,
}

impl From<SeverityArg> for Severity {
    fn from(severity: SeverityArg) -> Self {
        match severity {
            SeverityArg::Info => Self::Info,
            SeverityArg::Warning => Self::Warning,
            SeverityArg::Error => Self::Error,
            SeverityArg::Critical => Self::Critical,
        }
    }
}

pub(super) const EXAMPLES: &str = "\
Examples:
  link logs
  link logs workstation --follow
  link logs workstation --severity warning --model smollm
  link logs --local --follow
  link logs --local --model smollm --severity warning";
