//! `link fleet`.

use clap::Subcommand;

/// `link fleet …`.
#[derive(Debug, Subcommand)]
pub enum FleetCommand {
    /// List the tags of the account's devices, with how many are online and which versions they run
    #[command(after_help = "Example:\n  link fleet list")]
    List,
    /// Show the devices with a tag
    #[command(after_help = "Example:\n  link fleet show lab")]
    Show {
        /// Tag of the devices
        tag: String,
    },
}
