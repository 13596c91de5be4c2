//! `link device`.

use clap::{
    Subcommand,
    builder::{PossibleValuesParser, TypedValueParser as _},
};
use link_protocol::{backend_api::device::DeviceSort, selector::Selector};

use crate::args::{Backend, Many, Wait};

/// `link device …`.
#[derive(Debug, Subcommand)]
pub enum DeviceCommand {
    /// List the devices of the account
    #[command(after_help = LIST_EXAMPLES)]
    List {
        /// Only devices that match, such as `tag=lab,state=online`
        #[arg(long, value_name = "SELECTION")]
        select: Option<Selector>,
        /// Only devices with this text in their name, at the beginning of their id, or as a tag
        #[arg(long, value_name = "TEXT")]
        search: Option<String>,
        /// Order of the list; a leading `-` reverses it
        #[arg(long, value_name = "ORDER", value_parser = orders().try_map(|it| it.parse::<DeviceSort>()),
            default_value = DeviceSort::default().as_str(), allow_hyphen_values = true)]
        sort: DeviceSort,
        /// Show the list again after each change, until Ctrl-C; with --json, one document per line
        #[arg(long, short)]
        watch: bool,
    },
    /// Rename a device
    #[command(after_help = RENAME_EXAMPLES)]
    Rename {
        /// Device, by id or name; with --select, the pattern of the new names
        device: String,
        /// New name
        #[arg(required_unless_present = "select", conflicts_with = "select")]
        name: Option<String>,
        #[command(flatten)]
        many: Many,
        #[command(flatten)]
        wait: Wait<60>,
    },
    /// Add tags to a device
    #[command(
        after_help = "Examples:\n  link device tag workstation lab second-floor\n  link device tag lab --select tag=home"
    )]
    Tag {
        /// Device, by id or name; with --select, the first tag
        device: String,
        /// Tags to add
        #[arg(required_unless_present = "select")]
        tags: Vec<String>,
        #[command(flatten)]
        many: Many,
        #[command(flatten)]
        wait: Wait<60>,
    },
    /// Remove tags from a device
    #[command(
        after_help = "Examples:\n  link device untag workstation lab\n  link device untag lab --select tag=home"
    )]
    Untag {
        /// Device, by id or name; with --select, the first tag
        device: String,
        /// Tags to remove
        #[arg(required_unless_present = "select")]
        tags: Vec<String>,
        #[command(flatten)]
        many: Many,
        #[command(flatten)]
        wait: Wait<60>,
    },
    /// Show one device
    #[command(after_help = "Examples:\n  link device show\n  link device show workstation")]
    Show {
        /// Device, by id or name [default: this machine]
        device: Option<String>,
    },
    /// Replace the agent of a device with another version; an offline device updates later
    #[command(after_help = DEVICE_UPDATE_EXAMPLES)]
    Update {
        /// Device, by id or name
        #[arg(required_unless_present = "select", conflicts_with = "select")]
        device: Option<String>,
        #[command(flatten)]
        many: Many,
        /// Version to install
        #[arg(long = "to", value_name = "VERSION")]
        version: semver::Version,
        #[command(flatten)]
        wait: Wait<1800>,
    },
    /// Remove a device from the account
    #[command(after_help = "Example:\n  link device remove workstation --yes")]
    Remove {
        /// Device, by id or name
        device: String,
        /// Do not ask for confirmation
        #[arg(long, short)]
        yes: bool,
    },
    /// Transfer a device to another account, with a key of that account
    #[command(after_help = TRANSFER_EXAMPLES)]
    Transfer {
        /// Device, by id or name
        device: String,
        /// File with the registration or fleet key of the receiving account; `-` reads it from
        /// stdin [default: prompt]
        #[arg(long, value_name = "FILE")]
        key_file: Option<String>,
        /// Do not ask for confirmation
        #[arg(long, short)]
        yes: bool,
    },
    /// Remove a device that was uninstalled while the backend was unreachable; needs no login
    #[command(after_help = RETIRE_EXAMPLES)]
    Retire {
        /// Code that `link uninstall --force` printed; `-` reads it from stdin
        code: String,
        #[command(flatten)]
        backend: Backend,
    },
}

fn orders() -> PossibleValuesParser {
    PossibleValuesParser::new(DeviceSort::ALL.map(DeviceSort::as_str))
}

const RENAME_EXAMPLES: &str = "\
Examples:
  link device rename workstation second-floor
  link device rename 'lab-{n}' --select tag=lab --dry-run
  link device rename '{hostname}' --select tag=lab --wait

A pattern holds at least one of {n} (the number of the device among the selected ones), {name} (its name so
far) and {hostname}. Quote it: shells interpret braces.";

const DEVICE_UPDATE_EXAMPLES: &str = "\
Examples:
  link device update workstation --to 1.4.0
  link device update workstation --to 1.4.0 --wait
  link device update --select 'tag=lab,version<1.4.0' --to 1.4.0 --dry-run

The update ends once the version is verified and takes over. The version is then on trial for two
minutes; `link device show` says whether it stays or was rolled back. With --select, an offline
device updates when it is online, within 24 hours.";

const TRANSFER_EXAMPLES: &str = "\
Examples:
  link device transfer workstation
  link device transfer workstation --key-file key.txt --yes

A member of the other account creates the key: `link key create --kind registration`. The device
leaves this account at once, with its deployments and their history. As soon as it is online it deletes
its models and starts over in the other account. The transfer uses up a registration key.";

const RETIRE_EXAMPLES: &str = "\
Examples:
  link device retire lrc_… --backend https://link.example
  link device retire - < code.txt";

const LIST_EXAMPLES: &str = "\
Examples:
  link device list
  link device list --watch
  link device list --search rack7
  link device list --select 'tag=lab,version<1.3.0,state=online'
  link device list --select 'update=rolled_back'
  link device list --select state=offline --sort last_seen

A selection is a list of terms with commas between them, and a device must match every term: tag (= !=),
version (= != < <= > >=), state (= !=; online, offline, updating), update (= !=; committed, rolled_back: the end of
the last update) and disk (as version; the used share in percent). Quote it: shells interpret `<` and `>`.";
