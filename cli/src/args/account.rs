//! `link register`, `link login` and `link account`.

use std::time::Duration;

use clap::{Args, Subcommand};
use link_protocol::id::{AccountId, DeviceId};

use crate::args::{Backend, parse_duration};

/// `link register`.
#[derive(Args, Debug, Default)]
pub struct Register {
    /// Key for one device; `-` prompts for it, or reads it from a pipe
    #[arg(long, value_name = "KEY", conflicts_with = "fleet_key")]
    pub registration_key: Option<String>,
    /// Key for many devices; `-` prompts for it, or reads it from a pipe
    #[arg(long, value_name = "KEY")]
    pub fleet_key: Option<String>,
    /// E-mail of a user, who is logged in first; prompts for the password
    #[arg(long, value_name = "EMAIL", conflicts_with = "token")]
    pub email: Option<String>,
    /// Read the password from the next line of stdin
    #[arg(long, requires = "email")]
    pub password_stdin: bool,
    /// Access token of a user, instead of a login; `-` reads it from stdin [default: LINK_ACCESS_TOKEN]
    #[arg(long, value_name = "TOKEN")]
    pub token: Option<String>,
    #[command(flatten)]
    pub backend: Backend,
    /// Name of the device in the dashboard [default: the host name]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Re-activate this device instead of creating a new one
    #[arg(long, value_name = "ID", conflicts_with = "new_device")]
    pub device_id: Option<DeviceId>,
    /// Create a new device even if this machine is registered
    #[arg(long)]
    pub new_device: bool,
}

/// `link login`.
#[derive(Args, Debug)]
pub struct Login {
    /// Your e-mail [default: prompt]
    #[arg(long, value_name = "EMAIL")]
    pub email: Option<String>,
    /// Read the password from the first line of stdin
    #[arg(long)]
    pub password_stdin: bool,
    /// Approve this login in a browser, on this or another machine
    #[arg(long, conflicts_with_all = ["email", "password_stdin", "token_file"])]
    pub device: bool,
    /// Do not open a browser on this machine
    #[arg(long, requires = "device")]
    pub no_browser: bool,
    /// Longest wait for the browser, such as `60s` or `5m`
    #[arg(long, value_name = "TIME", requires = "device", value_parser = parse_duration, default_value = "10m")]
    pub timeout: Duration,
    /// File with a personal access token on its first line; `-` reads it from stdin
    #[arg(long, value_name = "FILE", conflicts_with_all = ["email", "password_stdin"])]
    pub token_file: Option<String>,
    #[command(flatten)]
    pub backend: Backend,
}

/// `link account …`.
#[derive(Debug, Subcommand)]
pub enum AccountCommand {
    /// Create the first account with the backend's setup token
    #[command(after_help = CREATE_EXAMPLES)]
    Create(CreateAccount),
    /// List your accounts
    #[command(after_help = "Example:\n  link account list")]
    List,
    /// Set a password for the backend of `link up`; this ends every login
    #[command(after_help = PASSWORD_EXAMPLES)]
    Password(Password),
    /// Switch to another account; later commands act in that account
    #[command(after_help = "Example:\n  link account use acc_…")]
    Use {
        /// Account, by id
        account: AccountId,
    },
}

/// `link account create`.
#[derive(Args, Debug)]
pub struct CreateAccount {
    /// File that holds the setup token; `-` reads it from the first line of stdin
    #[arg(long, value_name = "FILE")]
    pub setup_token_file: Option<String>,
    /// E-mail of the first user [default: prompt]
    #[arg(long, value_name = "EMAIL")]
    pub email: Option<String>,
    /// Read the password from the next line of stdin
    #[arg(long)]
    pub password_stdin: bool,
    #[command(flatten)]
    pub backend: Backend,
}

/// `link account password`.
#[derive(Args, Clone, Copy, Debug)]
pub struct Password {
    /// Read the password from the first line of stdin
    #[arg(long)]
    pub password_stdin: bool,
}

const PASSWORD_EXAMPLES: &str = "\
Examples:
  link account password
  link account password --password-stdin < password.txt

Before this, nobody can log in to that backend with a password. On a server, its administrator resets a
password with `link-backend reset-password`.";

pub(super) const REGISTER_EXAMPLES: &str = "\
Examples:
  link register --registration-key lrk_… --backend https://link.example
  link register --registration-key -
  LINK_FLEET_KEY_FILE=key.txt link register
  link register --registration-key - < key.txt
  link register --email you@example.com   prompts for the password and creates a key for this device
  link login && link register             does the same in two steps

Without --registration-key or --fleet-key, the key comes from LINK_REGISTRATION_KEY or LINK_FLEET_KEY, or from
the file that LINK_REGISTRATION_KEY_FILE or LINK_FLEET_KEY_FILE names. A registered device keeps its name,
tags and models.";

pub(super) const LOGIN_EXAMPLES: &str = "\
Examples:
  link login --backend https://link.example
  link login --email you@example.com --password-stdin < password.txt
  link login --device                    approve the login in a browser, here or elsewhere
  link login --token-file token.txt      use a token of `link token create`";

const CREATE_EXAMPLES: &str = "\
Examples:
  link account create --backend https://link.example
  link account create --setup-token-file token.txt --email you@example.com --password-stdin < password.txt";
