//! `link login` and `link account`.

use clap::{Args, Subcommand};

use crate::args::Backend;

/// `link login`.
#[derive(Args, Debug)]
pub struct Login {
    /// E-mail of the account; asked for on a terminal
    #[arg(long, value_name = "EMAIL")]
    pub email: Option<String>,
    /// Read the password from the first line of stdin
    #[arg(long)]
    pub password_stdin: bool,
    #[command(flatten)]
    pub backend: Backend,
}

/// `link account …`.
#[derive(Debug, Subcommand)]
pub enum AccountCommand {
    /// Create the first account with the setup token that the backend printed
    #[command(after_help = CREATE_EXAMPLES)]
    Create(CreateAccount),
}

/// `link account create`.
#[derive(Args, Debug)]
pub struct CreateAccount {
    /// File that holds the setup token; `-` reads it from the first line of stdin
    #[arg(long, value_name = "FILE")]
    pub setup_token_file: Option<String>,
    /// E-mail of the account; asked for on a terminal
    #[arg(long, value_name = "EMAIL")]
    pub email: Option<String>,
    /// Read the password from the next line of stdin
    #[arg(long)]
    pub password_stdin: bool,
    #[command(flatten)]
    pub backend: Backend,
}

pub(super) const LOGIN_EXAMPLES: &str = "\
Examples:
  link login --backend https://link.example
  link login --email you@example.com --password-stdin < password.txt";

const CREATE_EXAMPLES: &str = "\
Examples:
  link account create --backend https://link.example
  link account create --setup-token-file token.txt --email you@example.com --password-stdin < password.txt";
