//! `link audit`.

use clap::Args;

use crate::args::Moment;

/// `link audit`.
#[derive(Args, Debug)]
pub struct Audit {
    /// Only this action, such as `member.remove`, or every action of a group, such as `member`
    #[arg(long, value_name = "ACTION")]
    pub action: Option<String>,
    /// Only actions of this user, token or device, by id; of a member also by e-mail
    #[arg(long, value_name = "ID")]
    pub actor: Option<String>,
    /// Only actions on this object, by id
    #[arg(long, value_name = "ID")]
    pub subject: Option<String>,
    /// Only entries at or after this time, such as `yesterday`, `2h` (two hours ago) or `2027-01-31`
    #[arg(long, value_name = "TIME")]
    pub since: Option<Moment>,
    /// Only entries before this time
    #[arg(long, value_name = "TIME")]
    pub until: Option<Moment>,
    /// Largest number of entries; the newest come first
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub limit: u32,
}

pub(super) const EXAMPLES: &str = "\
Examples:
  link audit
  link audit --action member --since yesterday
  link audit --subject dev_… --limit 200 --json";
