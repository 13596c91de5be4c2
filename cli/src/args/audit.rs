//! `link audit`.

use clap::Args;
use jiff::Timestamp;

/// `link audit`.
#[derive(Args, Debug)]
pub struct Audit {
    /// Only this action, such as `member.remove`, or all of a kind, such as `member`
    #[arg(long, value_name = "ACTION")]
    pub action: Option<String>,
    /// Only what this user, token or device did, by id
    #[arg(long, value_name = "ID")]
    pub actor: Option<String>,
    /// Only what was done to this, by id
    #[arg(long, value_name = "ID")]
    pub subject: Option<String>,
    /// Not before this time, such as 2027-01-31T00:00:00Z
    #[arg(long, value_name = "TIME")]
    pub since: Option<Timestamp>,
    /// Before this time
    #[arg(long, value_name = "TIME")]
    pub until: Option<Timestamp>,
    /// How many entries, the newest first
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub limit: u32,
}

pub(super) const EXAMPLES: &str = "\
Examples:
  link audit
  link audit --action member --since 2027-01-01T00:00:00Z
  link audit --subject dev_… --limit 200 --json";
