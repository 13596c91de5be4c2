//! `link support`.

use std::path::PathBuf;

use clap::Args;

/// `link support`.
#[derive(Args, Clone, Debug)]
pub struct Support {
    /// Archive to write [default: link-support-TIME.tar.gz in this folder]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Do not ask for confirmation
    #[arg(long, short)]
    pub yes: bool,
    /// Only list what the archive would hold
    #[arg(long)]
    pub list: bool,
}

pub(super) const EXAMPLES: &str = "\
Examples:
  link support
  link support --list
  link support --yes --out support.tar.gz

The archive holds what helps somebody else find a fault: the findings of `link doctor`, versions, the
configuration, and the ends of the logs on this machine. Keys, tokens and passwords are removed, and questions
to models were never logged. Nothing is sent.";
