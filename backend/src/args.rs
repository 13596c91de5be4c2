//! The command line; its text is the help.
//!
//! Flags that stand for keys of the configuration are texts here: one place judges them, wherever
//! they come from.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use link_protocol::{account_name::AccountName, exit_code};

use crate::config::layers::Flag;

/// The backend of Link: accounts, devices, models, and the commands that join them.
#[derive(Debug, Parser)]
#[command(name = "link-backend", version, after_help = after_help())]
pub struct Arguments {
    #[command(subcommand)]
    pub action: Action,
    #[command(flatten)]
    pub global: Global,
}

/// What every command takes.
#[derive(Clone, Debug, Args)]
pub struct Global {
    /// The configuration file [default: ~/.config/link-backend/backend.toml, else
    /// /etc/link-backend/backend.toml, unless a data folder is given].
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The folder that holds everything [LINK_BACKEND_DATA].
    #[arg(long, global = true, value_name = "DIR")]
    pub data: Option<String>,
    /// A private file that holds the address of a PostgreSQL database
    /// [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself].
    #[arg(long, global = true, value_name = "FILE")]
    pub database_url_file: Option<String>,
    /// What to log, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER].
    #[arg(long, global = true, value_name = "FILTER")]
    pub log: Option<String>,
    /// How a log record looks, `text` or `json` [LINK_BACKEND_LOG_FORMAT].
    #[arg(long, global = true, value_name = "FORMAT")]
    pub log_format: Option<String>,
    /// Print JSON for a program instead of text for a person.
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

Every key of the configuration file can be set by a variable too: `log.format` by
LINK_BACKEND_LOG_FORMAT, and the file itself by LINK_BACKEND_CONFIG. A flag wins over the variable,
the variable over the file.

The first start makes a setup token, with which `POST /api/v1/setup` creates the first account; it
prints the token at a terminal, and the name of its file elsewhere.";

fn after_help() -> String {
    format!("{EXAMPLES}\n\n{}", exit_code::table())
}

/// What the program is to do.
#[derive(Debug, Subcommand)]
pub enum Action {
    /// Answer requests until SIGTERM or Ctrl-C.
    Serve(Serve),
    /// Bring the tables of the database up to date; `serve` does it too.
    #[command(after_help = "Examples:\n  link-backend migrate --dry-run\n  link-backend migrate")]
    Migrate(Migrate),
    /// Write one consistent archive of the data folder; the backend may run.
    #[command(after_help = "Examples:\n  link-backend backup /backup/link-$(date +%F).tar\n  \
        link-backend backup ./link.tar --data ./data --json")]
    Backup(Backup),
    /// Put a backup in the place of the data folder; the backend must not run.
    #[command(after_help = "Examples:\n  link-backend restore link.tar --data ./new\n  \
        link-backend restore link.tar --force\n\n\
        Everything is verified before anything is changed. What was in the folder is put aside, \
        beside it.")]
    Restore(Restore),
    /// Look for what is wrong or will be, and say what to do about it.
    #[command(after_help = "Examples:\n  link-backend doctor\n  link-backend doctor --json\n\n\
        It ends with 0 when nothing must be done, and with 1 otherwise.")]
    Doctor,
    /// Hand releases and engines on to devices.
    #[command(subcommand)]
    Releases(Releases),
    /// Look at the configuration.
    #[command(subcommand)]
    Config(Config),
    /// Create a further account; its password is asked for, or the first line of a piped standard
    /// input.
    #[command(after_help = "Examples:\n  link-backend create-account ada@example.org\n  \
        link-backend create-account ada@example.org --data ./data < password-file\n  \
        link-backend create-account bob@example.org --name acme")]
    CreateAccount(NewAccount),
    /// Give a user another password and end every login of that user.
    #[command(after_help = "Examples:\n  link-backend reset-password ada@example.org\n  \
        link-backend reset-password ada@example.org --data ./data < password-file")]
    ResetPassword(Person),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  link-backend serve --data ./data\n  \
    link-backend serve --data ./data --listen 127.0.0.1:0 --address-file ./address\n\n\
    SIGTERM and Ctrl-C end it in an orderly way, a second one at once.")]
pub struct Serve {
    /// The address to listen on; port 0 takes a free one [default: 127.0.0.1:8000]
    /// [LINK_BACKEND_LISTEN].
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// The address that answers `/metrics`, for Prometheus [default: none]
    /// [LINK_BACKEND_METRICS_LISTEN].
    #[arg(long, value_name = "ADDRESS")]
    metrics_listen: Option<String>,
    /// The address that people and devices reach this backend at [LINK_BACKEND_PUBLIC_URL].
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// The address of the workspace, when this backend does not serve it itself
    /// [LINK_BACKEND_WORKSPACE_URL].
    #[arg(long, value_name = "URL")]
    workspace_url: Option<String>,
    /// An origin whose pages may call the deployed models of every account, in the place of the
    /// workspace's own. May be given several times [LINK_BACKEND_ALLOWED_ORIGINS].
    #[arg(long = "allowed-origin", value_delimiter = ',', value_name = "ORIGIN")]
    allowed_origins: Vec<String>,
    /// Devices that an account may have [default: 100] [LINK_BACKEND_DEVICE_LIMIT].
    #[arg(long, value_name = "N")]
    device_limit: Option<String>,
    /// Write the address that was bound to this file, once requests are answered
    /// [LINK_BACKEND_ADDRESS_FILE].
    #[arg(long, value_name = "FILE")]
    address_file: Option<String>,
    /// Endpoint of the built-in zenoh router, such as `tls/0.0.0.0:7447`. May be given several
    /// times [default: none] [LINK_BACKEND_ZENOH_LISTEN].
    #[arg(long, value_delimiter = ',', value_name = "ENDPOINT")]
    zenoh_listen: Vec<String>,
    /// Endpoint of zenoh that devices are told, where it is not the one that is listened on
    /// [LINK_BACKEND_ZENOH_ENDPOINTS].
    #[arg(long = "zenoh-endpoint", value_delimiter = ',', value_name = "ENDPOINT")]
    zenoh_endpoints: Vec<String>,
    /// Free slots that the zenoh router opens with at least [default: 64]
    /// [LINK_BACKEND_ZENOH_RESERVE].
    #[arg(long, value_name = "N")]
    zenoh_reserve: Option<String>,
}

#[derive(Clone, Copy, Debug, Subcommand)]
pub enum Config {
    /// Say every fault of the configuration, or that there is none.
    Check,
    /// Print every key with its value and where that stands; secrets are stars.
    Show,
    /// Print the JSON Schema of the file, for an editor.
    Schema,
}

#[derive(Debug, Subcommand)]
pub enum Releases {
    /// Fetch the newest release with its index of engines, verify it, and serve it below `/releases`.
    #[command(
        after_help = "Examples:\n  link-backend releases pull https://releases.example/stable\n  \
        link-backend releases pull ./release-folder --trust ./release-key.pub\n\n\
        A release key must have signed both. The backend may run: what it serves changes in one step, \
        and stays as it is when anything is wrong."
    )]
    Pull(Pull),
}

#[derive(Debug, Args)]
pub struct Pull {
    /// The folder with the release: an address (https) or a path.
    #[arg(value_name = "URL|FOLDER")]
    pub from: String,
    /// A file with a public key whose releases are taken, beside those that this program trusts. May be
    /// given several times.
    #[arg(long, value_name = "FILE")]
    pub trust: Vec<PathBuf>,
    /// Take a release or an index that is older than what is served.
    #[arg(long)]
    pub allow_older: bool,
    /// Keys whose releases a development build takes, beside its own.
    #[arg(long, env = "LINK_DEV_RELEASE_KEYS", hide = true)]
    pub development_release_keys: Option<String>,
}

#[derive(Clone, Copy, Debug, Args)]
pub struct Migrate {
    /// Say what is pending and change nothing.
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Args)]
pub struct Backup {
    /// The archive to write; only you can read it, and it holds every key.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Replace the file when it exists.
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct Restore {
    /// The archive that `backup` wrote.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Put a folder aside that is not empty.
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct NewAccount {
    /// The e-mail address of its owner.
    #[arg(value_name = "EMAIL")]
    pub email: String,
    /// What other accounts know it by; it stays for ever [default: what stands before the `@`, with a
    /// number when another account has that].
    #[arg(long, value_name = "NAME")]
    pub name: Option<AccountName>,
}

#[derive(Debug, Args)]
pub struct Person {
    /// The e-mail address of the user.
    #[arg(value_name = "EMAIL")]
    pub email: String,
}

impl Global {
    /// Returns what stands for keys of the configuration.
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
    /// Returns what stands for keys of the configuration.
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
