//! `link commands`.

use clap::{
    Subcommand,
    builder::{PossibleValuesParser, TypedValueParser as _},
};
use link_protocol::command::CommandKind;

/// `link commands …`.
#[derive(Debug, Subcommand)]
pub enum CommandsCommand {
    /// List the commands sent to devices, newest first
    #[command(
        after_help = "Examples:\n  link commands list --open\n  link commands list --type REPAIR_SERVING\n  \
                      link commands list --device workstation --limit 10"
    )]
    List {
        /// Only commands to this device, by id or name
        #[arg(long, value_name = "DEVICE")]
        device: Option<String>,
        /// Only commands of this type
        #[arg(long = "type", value_name = "TYPE", ignore_case = true, value_parser = types().try_map(kind))]
        kind: Option<CommandKind>,
        /// Only commands that have not ended
        #[arg(long)]
        open: bool,
        /// Largest number of commands
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        limit: u32,
    },
    /// Show a command and its result
    #[command(after_help = "Example:\n  link commands show cmd_…")]
    Show {
        /// Command, by id or by the beginning of its id
        command: String,
    },
    /// Explain the state of a command, its cause, and what happens next
    #[command(after_help = "Example:\n  link commands explain cmd_…")]
    Explain {
        /// Command, by id or by the beginning of its id
        command: String,
    },
}

fn types() -> PossibleValuesParser {
    PossibleValuesParser::new(CommandKind::ALL.map(CommandKind::as_str))
}

/// Returns the type of commands with this name, in capital or small letters.
fn kind(name: String) -> Result<CommandKind, &'static str> {
    let mut kinds = CommandKind::ALL.into_iter();
    kinds.find(|kind| kind.as_str().eq_ignore_ascii_case(&name)).ok_or("commands have no such type")
}
