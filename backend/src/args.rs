//! The command line; its text is the help.

mod zenoh;

use std::{net::SocketAddr, path::PathBuf};

use clap::{Args, Parser, Subcommand};
use link_protocol::{allowlist::Origin, limits};

/// The backend of Link: accounts, devices, models, and the commands that join them.
#[derive(Debug, Parser)]
#[command(name = "link-backend", version, after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) action: Action,
    /// What to log, such as `info` or `link_backend=debug`.
    #[arg(
        long,
        global = true,
        env = "LINK_BACKEND_LOG",
        default_value = "info",
        value_name = "FILTER"
    )]
    pub(crate) log: String,
}

const EXAMPLES: &str = "\
Examples:
  link-backend serve --data /var/lib/link --listen 0.0.0.0:8000
  link-backend serve --data ./data --listen 127.0.0.1:0 --address-file ./address
  link-backend serve --data ./data --zenoh-listen tls/0.0.0.0:7447 --zenoh-endpoint tls/link.example:7447
  echo \"$PASSWORD\" | link-backend add-account --data ./data --email ada@example.org

The first start prints a setup token, with which `POST /api/v1/setup` creates the first account.";

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Answer requests until SIGTERM or Ctrl-C.
    Serve(Serve),
    /// Create a further account; its password is the first line of the standard input.
    AddAccount(AddAccount),
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// The folder that holds everything; it is made when it is not there.
    #[arg(long, env = "LINK_BACKEND_DATA", value_name = "DIR")]
    pub(crate) data: PathBuf,
    /// The address to listen on; port 0 takes a free one.
    #[arg(
        long,
        env = "LINK_BACKEND_LISTEN",
        default_value = "127.0.0.1:8000",
        value_name = "ADDRESS"
    )]
    pub(crate) listen: SocketAddr,
    /// The address that people and devices reach this backend at.
    #[arg(long, env = "LINK_BACKEND_PUBLIC_URL", value_name = "URL")]
    pub(crate) public_url: Option<String>,
    /// An origin whose pages may call deployed models; counts at the first start only, later it is
    /// a setting. May be given several times.
    #[arg(
        long = "allowed-origin",
        env = "LINK_BACKEND_ALLOWED_ORIGIN",
        value_delimiter = ',',
        value_name = "ORIGIN"
    )]
    pub(crate) allowed_origins: Vec<Origin>,
    #[command(flatten)]
    pub(crate) database: Database,
    /// Devices that an account may have.
    #[arg(long, env = "LINK_BACKEND_DEVICE_LIMIT", default_value_t = limits::DEVICE_LIMIT, value_name = "N")]
    pub(crate) device_limit: u32,
    /// Write the address that was bound to this file, once requests are answered.
    #[arg(long, env = "LINK_BACKEND_ADDRESS_FILE", value_name = "FILE")]
    pub(crate) address_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) zenoh: zenoh::Zenoh,
}

/// Where the database is. Its URL holds a password, so it is never an argument.
#[derive(Debug, Args)]
pub(crate) struct Database {
    /// A file whose first line is the URL of a PostgreSQL database, as
    /// `postgres://USER:PASSWORD@HOST:5432/DATABASE`; the environment variable
    /// LINK_BACKEND_DATABASE_URL may hold the URL instead. Without either the database is an SQLite
    /// file in the folder.
    #[arg(long, env = "LINK_BACKEND_DATABASE_URL_FILE", value_name = "FILE")]
    pub(crate) database_url_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct AddAccount {
    /// The folder of the backend.
    #[arg(long, env = "LINK_BACKEND_DATA", value_name = "DIR")]
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) database: Database,
    /// The e-mail address of its user.
    #[arg(long)]
    pub(crate) email: String,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
