//! The command line. The doc comments are the help texts.
//!
//! Flags that set keys of the configuration are texts here, so that one place checks the values of all sources.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use link_protocol::{account_name::AccountName, exit_code};

use crate::config::layers::Flag;

/// The backend of Link: manages accounts, devices and models, and sends commands to devices
#[derive(Debug, Parser)]
#[command(name = "link-backend", version, after_help = after_help())]
pub struct Arguments {
    #[command(subcommand)]
    pub action: Action,
    #[command(flatten)]
    pub global: Global,
}

/// The flags of every command.
#[derive(Clone, Debug, Args)]
pub struct Global {
    /// Configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a
    /// data folder is given]
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Folder for all data [LINK_BACKEND_DATA]
    #[arg(long, global = true, value_name = "DIR")]
    pub data: Option<String>,
    /// Private file with the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE;
    /// LINK_BACKEND_DATABASE_URL may hold the address itself]
    #[arg(long, global = true, value_name = "FILE")]
    pub database_url_file: Option<String>,
    /// Log filter, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]
    #[arg(long, global = true, value_name = "FILTER")]
    pub log: Option<String>,
    /// Format of the log records: `text` or `json` [LINK_BACKEND_LOG_FORMAT]
    #[arg(long, global = true, value_name = "FORMAT")]
    pub log_format: Option<String>,
    /// Print JSON for programs instead of text for people
    #[arg(long, global = true)]
    pub json: bool,
}

const EXAMPLES: &str = "\
Examples:
  link-backend serve --data /var/lib/link --listen 0.0.0.0:8000
  link-backend serve --config /etc/link-backend/backend.toml
  link-backend config show
  link-backend backup /backup/link.tar
  link-backend doctor
  link-backend create-account ada@example.org

Each key of the configuration file has a variable, such as LINK_BACKEND_LOG_FORMAT for `log.format`.
LINK_BACKEND_CONFIG names the file itself. A flag overrides the variable, and the variable overrides
the file.

The first start creates a setup token, with which `link account create` creates the first account. On
a terminal the backend prints the token, elsewhere the name of the token's file.";

fn after_help() -> String {
    format!("{EXAMPLES}\n\n{}", exit_code::table())
}

/// The commands of the program.
#[derive(Debug, Subcommand)]
pub enum Action {
    /// Answer requests until SIGTERM or Ctrl-C
    Serve(Serve),
    /// Migrate the database to the tables of this version; `serve` does so too
    #[command(after_help = "Examples:\n  link-backend migrate --dry-run\n  link-backend migrate")]
    Migrate(Migrate),
    /// Write a consistent archive of the data folder; the backend may run meanwhile
    #[command(after_help = "Examples:\n  link-backend backup /backup/link-$(date +%F).tar\n  \
        link-backend backup ./link.tar --data ./data --json")]
    Backup(Backup),
    /// Replace the data folder with a backup; the backend must not run meanwhile
    #[command(after_help = "Examples:\n  link-backend restore link.tar --data ./new\n  \
        link-backend restore link.tar --force\n\n\
        The whole backup is verified before anything changes. The previous folder is renamed and \
        stays next to the new one.")]
    Restore(Restore),
    /// List current and expected problems of the backend, each with its remedy
    #[command(after_help = "Examples:\n  link-backend doctor\n  link-backend doctor --json\n\n\
        Exit code 0: there is nothing to do. 1: a problem needs a remedy.")]
    Doctor,
    /// Provide releases and engines for devices
    #[command(
        subcommand,
        after_help = "Example:\n  link-backend releases pull https://releases.example/stable"
    )]
    Releases(Releases),
    /// Check and show the configuration
    #[command(
        subcommand,
        after_help = "Examples:\n  link-backend config show\n  link-backend config check --config ./backend.toml"
    )]
    Config(Config),
    /// Create another account; prompts for its password, or reads the first line of a piped stdin
    #[command(after_help = "Examples:\n  link-backend create-account ada@example.org\n  \
        link-backend create-account ada@example.org --data ./data < password-file\n  \
        link-backend create-account bob@example.org --name acme")]
    CreateAccount(NewAccount),
    /// Set a new password for a user, end all logins of that user and revoke the user's access tokens
    #[command(after_help = "Examples:\n  link-backend reset-password ada@example.org\n  \
        link-backend reset-password ada@example.org --data ./data < password-file")]
    ResetPassword(Person),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  link-backend serve --data ./data\n  \
    link-backend serve --data ./data --listen 127.0.0.1:0 --address-file ./address\n\n\
    SIGTERM and Ctrl-C shut the backend down gracefully; a second signal ends it at once.")]
pub struct Serve {
    /// Address to listen on; port 0 picks a free port [default: 127.0.0.1:8000] [LINK_BACKEND_LISTEN]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// Address that answers `/metrics`, for Prometheus [default: none] [LINK_BACKEND_METRICS_LISTEN]
    #[arg(long, value_name = "ADDRESS")]
    metrics_listen: Option<String>,
    /// Address at which people and devices reach this backend [LINK_BACKEND_PUBLIC_URL]
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// Address of the workspace, if this backend does not serve the workspace itself [LINK_BACKEND_WORKSPACE_URL]
    #[arg(long, value_name = "URL")]
    workspace_url: Option<String>,
    /// Origin whose pages may call the deployed models of every account; may be given several times [default: the
    /// workspace's origin] [LINK_BACKEND_ALLOWED_ORIGINS]
    #[arg(long = "allowed-origin", value_delimiter = ',', value_name = "ORIGIN")]
    allowed_origins: Vec<String>,
    /// Largest number of devices of an account [default: 100] [LINK_BACKEND_DEVICE_LIMIT]
    #[arg(long, value_name = "N")]
    device_limit: Option<String>,
    /// File to write the bound address to, once the backend answers requests [LINK_BACKEND_ADDRESS_FILE]
    #[arg(long, value_name = "FILE")]
    address_file: Option<String>,
    /// Endpoint of the built-in zenoh router, such as `tls/0.0.0.0:7447`; may be given several times [default: none]
    /// [LINK_BACKEND_ZENOH_LISTEN]
    #[arg(long, value_delimiter = ',', value_name = "ENDPOINT")]
    zenoh_listen: Vec<String>,
    /// Endpoint of the zenoh router for devices; may be given several times [default: the endpoints of --zenoh-listen]
    /// [LINK_BACKEND_ZENOH_ENDPOINTS]
    #[arg(long = "zenoh-endpoint", value_delimiter = ',', value_name = "ENDPOINT")]
    zenoh_endpoints: Vec<String>,
    /// Smallest number of free slots when the zenoh router opens [default: 64] [LINK_BACKEND_ZENOH_RESERVE]
    #[arg(long, value_name = "N")]
    zenoh_reserve: Option<String>,
}

#[derive(Clone, Copy, Debug, Subcommand)]
pub enum Config {
    /// Check the configuration and list all its faults
    Check,
    /// Print every key with its value and its source; secrets are printed as stars
    Show,
    /// Print the JSON Schema of the configuration file, for an editor
    Schema,
}

#[derive(Debug, Subcommand)]
pub enum Releases {
    /// Fetch the newest release, the engine index and the model catalogue, verify them, and serve them below `/releases`
    #[command(
        after_help = "Examples:\n  link-backend releases pull https://releases.example/stable\n  \
        link-backend releases pull ./release-folder --trust ./release-key.pub\n\n\
        A release key, or a key of --trust, must have signed each of them. The backend may run meanwhile: it switches to the new \
        release in one step, and keeps the old one if a check fails."
    )]
    Pull(Pull),
}

#[derive(Debug, Args)]
pub struct Pull {
    /// Folder with the release: an address (https) or a path
    #[arg(value_name = "URL|FOLDER")]
    pub from: String,
    /// File with a public key to trust, in addition to the release keys of this program; may be given several times
    #[arg(long, value_name = "FILE")]
    pub trust: Vec<PathBuf>,
    /// Accept a release, an index or a catalogue that is older than the served one
    #[arg(long)]
    pub allow_older: bool,
    /// Additional release keys that a development build trusts
    #[arg(long, env = "LINK_DEV_RELEASE_KEYS", hide = true)]
    pub development_release_keys: Option<String>,
}

#[derive(Clone, Copy, Debug, Args)]
pub struct Migrate {
    /// List the pending migrations, and change nothing
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Args)]
pub struct Backup {
    /// Archive to write; it contains every key, and only you can read it
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct Restore {
    /// Archive that `link-backend backup` wrote
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Also replace a data folder that is not empty; it is renamed, not deleted
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct NewAccount {
    /// E-mail address of the account's owner
    #[arg(value_name = "EMAIL")]
    pub email: String,
    /// Permanent name of the account for other accounts [default: the part before the `@`, with a number if another
    /// account has that name]
    #[arg(long, value_name = "NAME")]
    pub name: Option<AccountName>,
}

#[derive(Debug, Args)]
pub struct Person {
    /// E-mail address of the user
    #[arg(value_name = "EMAIL")]
    pub email: String,
}

impl Global {
    /// Returns the flags that set keys of the configuration.
    #[must_use]
    pub fn flags(&self) -> Vec<(&'static str, Flag)> {
        let given = [
            ("data", "--data", &self.data),
            ("database.url_file", "--database-url-file", &self.database_url_file),
            ("log.filter", "--log", &self.log),
            ("log.format", "--log-format", &self.log_format),
        ];
        flags(&given)
    }
}

impl Serve {
    /// Returns the flags that set keys of the configuration.
    #[must_use]
    pub fn flags(&self) -> Vec<(&'static str, Flag)> {
        let given = [
            ("listen", "--listen", &self.listen),
            ("metrics.listen", "--metrics-listen", &self.metrics_listen),
            ("public_url", "--public-url", &self.public_url),
            ("workspace_url", "--workspace-url", &self.workspace_url),
            ("device_limit", "--device-limit", &self.device_limit),
            ("address_file", "--address-file", &self.address_file),
            ("zenoh.reserve", "--zenoh-reserve", &self.zenoh_reserve),
        ];
        let mut flags = flags(&given);
        for (key, name, values) in [
            ("allowed_origins", "--allowed-origin", &self.allowed_origins),
            ("zenoh.listen", "--zenoh-listen", &self.zenoh_listen),
            ("zenoh.endpoints", "--zenoh-endpoint", &self.zenoh_endpoints),
        ] {
            if !values.is_empty() {
                flags.push((key, Flag { name, values: values.clone() }));
            }
        }
        flags
    }
}

fn flags(given: &[(&'static str, &'static str, &Option<String>)]) -> Vec<(&'static str, Flag)> {
    let flag = |(key, name, value): &(&'static str, &'static str, &Option<String>)| {
        let values = vec![value.as_ref()?.clone()];
        Some((*key, Flag { name, values }))
    };
    given.iter().filter_map(flag).collect()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_flag_stands_for_a_key() {
        let arguments = Arguments::parse_from([
            "link-backend",
            "serve",
            "--data",
            "d",
            "--log",
            "info",
            "--log-format",
            "json",
            "--listen",
            "l",
            "--public-url",
            "u",
            "--workspace-url",
            "w",
            "--device-limit",
            "1",
            "--address-file",
            "a",
            "--allowed-origin",
            "o",
            "--database-url-file",
            "f",
            "--metrics-listen",
            "m",
        ]);
        let Action::Serve(serve) = &arguments.action else { panic!("{arguments:?}") };
        let keys = crate::config::layers::keys();
        let flags: Vec<_> = arguments.global.flags().into_iter().chain(serve.flags()).collect();
        assert_eq!(flags.len(), 11);
        assert!(flags.iter().all(|(key, _)| keys.contains_key(*key)), "{flags:?}");
    }
}
