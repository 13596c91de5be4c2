//! `link commands`.

use clap::Subcommand;
use link_protocol::id::CommandId;

/// `link commands …`.
#[derive(Debug, Subcommand)]
pub enum CommandsCommand {
    /// List what devices were told to do, the newest first
    #[command(
        after_help = "Examples:\n  link commands list --open\n  link commands list --device workstation --limit 10"
    )]
    List {
        /// Only the commands to this device, by id or by name
        #[arg(long, value_name = "DEVICE")]
        device: Option<String>,
        /// Only those that something can still happen to
        #[arg(long)]
        open: bool,
        /// How many
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        limit: u32,
    },
    /// Show a command and its result
    #[command(after_help = "Example:\n  link commands show cmd_…")]
    Show { command: CommandId },
    /// Say where a command is, why, and what happens next
    #[command(after_help = "Example:\n  link commands explain cmd_…")]
    Explain { command: CommandId },
}
