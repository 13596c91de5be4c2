//! `link-backend`: reads the command line, then serves until it is told to stop.

#![forbid(unsafe_code)]

mod args;
mod database_url;
mod serve;

use std::{
    io::{self, BufRead as _, IsTerminal as _, Write as _},
    process::ExitCode,
};

use anyhow::Context as _;
use clap::Parser as _;
use link_backend::{app::App, config::Config};
use link_protocol::secret::Secret;
use tracing_subscriber::EnvFilter;

use crate::args::{Action, AddAccount, Arguments};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing is left to be told when the standard error is closed.
            writeln!(io::stderr(), "link-backend: {error:#}").unwrap_or(());
            ExitCode::FAILURE
        }
    }
}

#[tokio::main]
async fn run() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let filter = EnvFilter::try_new(&arguments.log).context("`--log` is not a filter")?;
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(io::stderr().is_terminal())
        .with_writer(io::stderr)
        .init();
    match arguments.action {
        Action::Serve(options) => serve::run(options).await,
        Action::AddAccount(options) => add_account(options).await,
    }
}

async fn add_account(options: AddAccount) -> anyhow::Result<()> {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).context("failed to read the password")?;
    let password = Secret::new(line.trim_end_matches(['\n', '\r']));
    let mut config = Config::new(options.data);
    config.database_url = database_url::read(&options.database)?;
    let app = App::open(config).await?;
    let me = app.add_account(&options.email, password).await?;
    writeln!(io::stdout(), "{}", me.account_id).context("failed to print the account")
}
