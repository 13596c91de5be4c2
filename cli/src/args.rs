//! Definitions and help texts of the `link` command. This module does nothing else.

use std::{path::PathBuf, time::Duration};

use clap::{Args, Parser, Subcommand};
use link_protocol::{
    command::{Alias, Sha256Hex},
    port::Port,
    release::Channel,
};

mod account;
mod allowlist;
mod audit;
mod chat;
mod commands;
mod device;
mod doctor;
mod engine;
mod fleet;
mod groups;
mod help;
mod key;
mod logs;
mod member;
mod model;
mod operation;
mod paragraphs;
mod plugin;
mod status;
mod support;
mod time;
mod token;
mod trust;
mod up;
mod usage;

pub use account::{AccountCommand, CreateAccount, Login, Password, Register};
pub use allowlist::AllowlistCommand;
pub use audit::Audit;
pub use chat::{Chat, Question, Run};
pub use commands::CommandsCommand;
pub use device::DeviceCommand;
pub use doctor::{Doctor, Reach};
pub use engine::EngineCommand;
pub use fleet::FleetCommand;
pub use key::{KeyCommand, KeyKindArg};
pub use logs::Logs;
pub use member::{Accept, LeftKeysArg, MemberCommand, RoleArg};
pub use model::{Add, Deploy, ModelCommand, OnDevice, Remove, Serve};
pub use operation::{Many, OperationCommand, Selection};
pub(crate) use paragraphs::{flowing, with_placeholders};
pub use plugin::{PluginCommand, PluginLanguage};
pub use status::Status;
pub use support::Support;
pub use time::Moment;
pub use token::TokenCommand;
pub use trust::TrustArguments;
pub use up::{Down, Open, Up};
pub use usage::{Usage, UsageGroupArg};

/// Deploys models to your devices and serves them there.
#[derive(Debug, Parser)]
#[command(
    name = "link",
    version,
    about = "Deploys models to your devices and serves them there",
    after_help = "Run `link --help` for examples and exit codes, `link help COMMAND` for one command.",
    after_long_help = help::long_help(),
    disable_help_subcommand = false,
    subcommand_required = true,
    arg_required_else_help = true,
    propagate_version = false
)]
pub struct Arguments {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

/// Flags of every command.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct Global {
    /// Print data as JSON on stdout, and an error as one JSON document on stderr
    #[arg(long, global = true, help_heading = "Output")]
    pub json: bool,
    /// Print only data and errors
    #[arg(long, short, global = true, help_heading = "Output")]
    pub quiet: bool,
    /// Print whole ids and texts in tables
    #[arg(long, global = true, help_heading = "Output")]
    pub full: bool,
    /// Print exact times (UTC) instead of relative ones
    #[arg(long, global = true, help_heading = "Output")]
    pub utc: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Start your own backend on this machine, register this device with it and start the agent
    #[command(after_help = up::UP_EXAMPLES)]
    Up(Up),
    /// Open the dashboard and workspace of your own backend in a browser, logged in
    #[command(after_help = up::OPEN_EXAMPLES)]
    Open(Open),
    /// Stop your own backend and the agent
    #[command(after_help = up::DOWN_EXAMPLES)]
    Down(Down),
    /// Register this device with a key
    #[command(after_help = account::REGISTER_EXAMPLES)]
    Register(Register),
    /// Show the agent, its connection and its models
    #[command(after_help = status::EXAMPLES)]
    Status(Status),
    /// Find what is wrong on this machine, and how to fix it
    #[command(after_help = doctor::EXAMPLES)]
    Doctor(Doctor),
    /// Start the agent
    #[command(after_help = "Example:\n  link start")]
    Start,
    /// Stop the agent; it serves no models while it is stopped
    #[command(after_help = "Example:\n  link stop\n\nTo stop one model: link model stop MODEL")]
    Stop,
    /// Stop the agent if it runs, then start it
    #[command(after_help = "Example:\n  link restart")]
    Restart,
    /// Update Link on this machine
    #[command(after_help = help::UPDATE_EXAMPLES)]
    Update(Update),
    /// Deregister this device, stop the agent and delete the installation
    #[command(after_help = help::UNINSTALL_EXAMPLES)]
    Uninstall(Uninstall),
    /// Log in to a backend
    #[command(after_help = account::LOGIN_EXAMPLES)]
    Login(Login),
    /// Delete the login from this machine and revoke it
    #[command(after_help = "Example:\n  link logout")]
    Logout,
    /// Show the user, the account and the backend of the login
    #[command(after_help = "Example:\n  link whoami")]
    Whoami,
    /// Create the first account of a backend, list your accounts, switch between them
    #[command(subcommand, after_help = groups::ACCOUNT)]
    Account(AccountCommand),
    /// List, invite and remove the members of the account
    #[command(subcommand, after_help = groups::MEMBER)]
    Member(MemberCommand),
    /// Create, list and revoke personal access tokens for scripts
    #[command(subcommand, after_help = groups::TOKEN)]
    Token(TokenCommand),
    /// Show the audit log of the account
    #[command(after_help = audit::EXAMPLES)]
    Audit(Audit),
    /// Show how much your models were used, by model, device or tag
    #[command(after_help = usage::EXAMPLES)]
    Usage(Usage),
    /// Create, list and revoke the keys that devices register with
    #[command(subcommand, after_help = groups::KEY)]
    Key(KeyCommand),
    /// List, show, tag, update and remove devices
    #[command(subcommand, after_help = groups::DEVICE)]
    Device(DeviceCommand),
    /// Show the log records of a device
    #[command(after_help = logs::EXAMPLES)]
    Logs(Logs),
    /// Write one archive with what helps somebody else find a fault on this machine
    #[command(after_help = support::EXAMPLES)]
    Support(Support),
    /// List tags, and the devices of a tag
    #[command(subcommand, after_help = groups::FLEET)]
    Fleet(FleetCommand),
    /// List the commands sent to devices, and explain their outcomes
    #[command(subcommand, after_help = groups::COMMANDS)]
    Commands(CommandsCommand),
    /// Follow, cancel and retry operations on many devices
    #[command(subcommand, after_help = groups::OPERATION)]
    Operation(OperationCommand),
    /// Add models, deploy them and serve them
    #[command(subcommand, after_help = groups::MODEL)]
    Model(ModelCommand),
    /// List, install and remove the inference engine on this machine
    #[command(subcommand, after_help = groups::ENGINE)]
    Engine(EngineCommand),
    /// Show, install and remove the plugins that serve models on this machine
    #[command(subcommand, after_help = groups::PLUGIN)]
    Plugin(PluginCommand),
    /// Chat with a model on this machine; deploys and serves it first where needed
    #[command(after_help = chat::RUN_EXAMPLES)]
    Run(Run),
    /// Chat with a model that is served on this machine
    #[command(after_help = chat::CHAT_EXAMPLES)]
    Chat(Chat),
    /// Update the allowlist of a served model in place
    #[command(after_help = help::REPAIR_EXAMPLES)]
    RepairServing(RepairServing),
    /// Show and change the web origins that new deployments of the account allow
    #[command(subcommand, after_help = groups::ALLOWLIST)]
    Allowlist(AllowlistCommand),
    /// Print the completion script for a shell
    #[command(
        after_help = "Example:\n  link completions bash > ~/.local/share/bash-completion/completions/link"
    )]
    Completions {
        /// Shell that the script is for
        shell: clap_complete::Shell,
    },
    /// Print the names that complete the last word
    #[command(hide = true)]
    Complete {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
    /// Ask a backend whether it can be reached from this process
    #[command(hide = true)]
    Reach(Reach),
    /// Check that this program runs on this machine
    #[command(hide = true)]
    SelfCheck,
    /// Verify the signature of an unpacked release
    #[command(hide = true)]
    VerifyFiles(VerifyFiles),
    /// Install an unpacked release, register the device and start the agent
    #[command(hide = true)]
    InstallFiles(InstallFiles),
    /// Install the backend of an unpacked release and start it
    #[command(hide = true)]
    InstallBackend(InstallFiles),
    /// Uninstall the backend
    #[command(hide = true)]
    UninstallBackend(UninstallBackend),
    /// Write the completions and manual pages of this version
    #[command(hide = true)]
    RefreshFiles,
}

/// The backend that a command talks to.
#[derive(Args, Clone, Debug, Default)]
pub struct Backend {
    /// Address of the backend [default: LINK_BACKEND_URL, else the login's, else the
    /// installation's]
    #[arg(long = "backend", value_name = "URL")]
    pub url: Option<String>,
}

/// `link uninstall`.
#[derive(Args, Clone, Copy, Debug)]
pub struct Uninstall {
    /// Do not ask for confirmation
    #[arg(long, short)]
    pub yes: bool,
    /// Delete everything even if the backend is unreachable, and print a retire code for it
    #[arg(long)]
    pub force: bool,
    /// Also delete the data of the backend of `link up`, with every account, device and model
    #[arg(long)]
    pub purge: bool,
}

/// `link update`.
#[derive(Args, Clone, Debug)]
pub struct Update {
    /// Version to install [default: the newest]
    #[arg(long = "to", value_name = "VERSION")]
    pub version: Option<semver::Version>,
    /// Only check for a newer version
    #[arg(long)]
    pub check: bool,
    /// Also retry a version that was rolled back before
    #[arg(long)]
    pub again: bool,
    /// Least stable channel to accept: alpha, beta or stable [default: the installed one]
    #[arg(long, value_name = "CHANNEL", value_parser = parse_channel)]
    pub channel: Option<Channel>,
}

/// `link install-files`.
#[derive(Args, Debug)]
pub struct InstallFiles {
    /// Folder that holds `link` and `link-agent` [default: the intact installation]
    #[arg(long, value_name = "DIR", required_unless_present = "archive")]
    pub from: Option<PathBuf>,
    /// SHA-256 of the archive that the folder was unpacked from
    #[arg(long, value_name = "SHA256")]
    pub archive: Option<Sha256Hex>,
    /// Outermost folder that was created for this installation
    #[arg(long, value_name = "DIR")]
    pub made: Option<PathBuf>,
    /// URL of the folder that later releases come from
    #[arg(long, value_name = "URL")]
    pub source: Option<String>,
    /// Print the steps without taking them
    #[arg(long)]
    pub dry_run: bool,
}

/// `link uninstall-backend`.
#[derive(Args, Clone, Copy, Debug)]
pub struct UninstallBackend {
    /// Do not ask for confirmation
    #[arg(long, short)]
    pub yes: bool,
    /// Also delete the data and the configuration
    #[arg(long)]
    pub purge: bool,
}

/// `link verify-files`.
#[derive(Args, Debug)]
pub struct VerifyFiles {
    /// Folder of the unpacked release [default: the intact installation]
    #[arg(long, value_name = "DIR", required_unless_present = "archive")]
    pub from: Option<PathBuf>,
    /// SHA-256 of the archive that the folder was unpacked from
    #[arg(long, value_name = "SHA256")]
    pub archive: Option<Sha256Hex>,
    /// Verify the backend instead of the agent
    #[arg(long)]
    pub backend: bool,
    /// Version that the release must have
    #[arg(long, value_name = "VERSION")]
    pub release: semver::Version,
}

/// Whether to wait, and for how long.
#[derive(Args, Clone, Copy, Debug)]
pub struct Wait<const SECONDS: u64> {
    /// Wait until the work has ended
    #[arg(long)]
    pub wait: bool,
    /// Longest wait, such as `60s`, `5m` or `1h`
    #[arg(long, value_name = "TIME", requires = "wait", value_parser = parse_duration, default_value = default_wait(SECONDS))]
    pub timeout: Duration,
}

/// `link repair-serving`.
#[derive(Args, Debug)]
pub struct RepairServing {
    /// Model, by id or name; a model of another account as `publisher/name`
    pub model: String,
    /// Device, by id or name [default: this machine]
    #[arg(long, value_name = "DEVICE", conflicts_with = "select")]
    pub device: Option<String>,
    #[command(flatten)]
    pub many: Many,
    /// Port to serve on from now on [default: the current port]
    #[arg(long, value_name = "N")]
    pub port: Option<Port>,
    #[command(flatten)]
    pub wait: Wait<60>,
}

/// The name under which a model is served.
#[derive(Args, Clone, Debug, Default)]
pub struct Naming {
    /// Name of the model in requests [default: that of the last deployment, or derived from the
    /// model's name]
    #[arg(long, value_name = "ALIAS")]
    pub alias: Option<Alias>,
}

/// Returns the default as the help text shows it; clap needs the text before it reads any argument.
const fn default_wait(seconds: u64) -> &'static str {
    match seconds {
        60 => "60s",
        180 => "3m",
        1800 => "30m",
        _ => panic!("write this default out"),
    }
}

fn parse_channel(text: &str) -> Result<Channel, String> {
    let channels = [Channel::Alpha, Channel::Beta, Channel::Stable];
    let found = channels.into_iter().find(|channel| channel.to_string() == text);
    found.ok_or_else(|| "expected `alpha`, `beta` or `stable`".to_owned())
}

fn parse_duration(text: &str) -> Result<Duration, String> {
    let usage = || "expected a time such as `60s`, `5m` or `1h`".to_owned();
    let duration: jiff::SignedDuration = text.parse().map_err(|_| usage())?;
    Duration::try_from(duration).ok().filter(|time| !time.is_zero()).ok_or_else(usage)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_definitions_hold_together() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_command_that_is_shown_has_an_example() {
        fn check(command: &clap::Command) {
            command.get_subcommands().filter(|sub| !sub.is_hide_set()).for_each(check);
            let help = command.get_after_long_help().or_else(|| command.get_after_help());
            let help = help.map(ToString::to_string).unwrap_or_default();
            assert!(help.contains("Example"), "{}", command.get_name());
        }
        check(&Arguments::command());
    }

    #[test]
    fn every_argument_that_is_shown_is_described() {
        fn check(command: &clap::Command) {
            for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
                assert!(
                    argument.get_help().is_some(),
                    "{} {}",
                    command.get_name(),
                    argument.get_id()
                );
            }
            command.get_subcommands().filter(|sub| !sub.is_hide_set()).for_each(check);
        }
        check(&Arguments::command());
    }

    #[test]
    fn times_are_read_with_their_unit() {
        assert_eq!(parse_duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_duration("1h"), Ok(Duration::from_secs(3600)));
        for bad in ["", "60", "-5s", "0s", "soon"] {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
    }
}
