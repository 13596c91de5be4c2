//! `link doctor`.

use clap::Args;
use link_protocol::allowlist::Origin;

/// `link doctor`.
#[derive(Args, Clone, Debug)]
pub struct Doctor {
    /// Also ask each served model what a browser would ask for a page of this origin
    #[arg(long, value_name = "ORIGIN")]
    pub origin: Option<Origin>,
    /// Fix what is safe to fix, then look again
    #[arg(long)]
    pub fix: bool,
}

/// `link reach`.
#[derive(Args, Clone, Debug)]
pub struct Reach {
    /// Address of the backend
    pub url: String,
}

pub(super) const EXAMPLES: &str = "\
Examples:
  link doctor
  link doctor --fix
  link doctor --origin https://workspace.example
  link doctor --json

Each error and warning comes with its next step, mostly a command. With --fix, Link starts an agent that does not
run, restarts one that does not answer, closes its folders to other users, puts the command on PATH, and
sends the account's allowlist to a model that refuses the origin. The exit code is 0 without errors, else
that of the first error.";
