//! `link fleet`.

use clap::Subcommand;

/// `link fleet …`.
#[derive(Debug, Subcommand)]
pub enum FleetCommand {
    /// List the account's tags, with their online devices and agent versions
    #[command(after_help = "Example:\n  link fleet list")]
    List,
    /// List the devices with a tag
    #[command(after_help = "Example:\n  link fleet show lab")]
    Show {
        /// Tag of the devices
        tag: String,
    },
}
