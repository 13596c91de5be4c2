//! `link key`.

use clap::{Subcommand, ValueEnum};

use crate::args::Moment;

/// `link key …`.
#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Create a key; the key is shown only once
    #[command(after_help = CREATE_EXAMPLES)]
    Create {
        /// Kind of the key: for one device, or for many
        #[arg(long, value_enum)]
        kind: KeyKindArg,
        /// Name of the key in lists
        #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
        name: String,
        /// Expiry, such as `30d` or `2027-01-31` [default: never]
        #[arg(long, value_name = "TIME")]
        expires_at: Option<Moment>,
        /// Largest number of devices that a fleet key may register
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        max_devices: Option<u32>,
        /// Tag for the devices that the key registers; may be given several times
        #[arg(long = "tag", value_name = "TAG")]
        tags: Vec<String>,
    },
    /// List the keys of the account, without their secrets
    #[command(after_help = "Example:\n  link key list")]
    List,
    /// Revoke a key: no device can register with it afterwards
    #[command(after_help = "Examples:\n  link key revoke key_…\n  link key revoke second-floor")]
    Revoke {
        /// Key, by name, by id or by the beginning of its id
        key: String,
        /// Do not ask for confirmation
        #[arg(long, short)]
        yes: bool,
    },
}

/// The devices that a key enrols.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum KeyKindArg {
    /// One device
    Registration,
    /// Many devices
    Fleet,
}

const CREATE_EXAMPLES: &str = "\
Examples:
  link key create --kind registration
  link key create --kind fleet --name lab --max-devices 20 --expires-at 30d";
