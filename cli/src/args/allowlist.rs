//! `link allowlist`.

use clap::Subcommand;
use link_protocol::allowlist::Origin;

/// `link allowlist …`.
#[derive(Debug, Subcommand)]
pub enum AllowlistCommand {
    /// Show the account's origins and the backend's defaults
    #[command(after_help = "Example:\n  link allowlist list")]
    List,
    /// Add an origin for this account; deployed models need a repair or a redeployment to get it
    #[command(after_help = "Example:\n  link allowlist add https://workspace.example")]
    Add {
        /// Scheme, host and port of the page, such as `https://workspace.example`
        origin: Origin,
    },
    /// Remove an origin of this account
    #[command(after_help = "Example:\n  link allowlist remove https://workspace.example")]
    Remove {
        /// Scheme, host and port of the page, such as `https://workspace.example`
        origin: Origin,
    },
}
