//! `link status`.

use clap::Args;

/// `link status`.
#[derive(Args, Clone, Copy, Debug)]
pub struct Status {
    /// Show the status again after each change, until Ctrl-C; with --json, one document per line
    #[arg(long, short)]
    pub watch: bool,
}

pub(super) const EXAMPLES: &str = "\
Examples:
  link status
  link status --watch
  link status --json";
