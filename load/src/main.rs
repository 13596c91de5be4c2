//! `link-load`: simulated devices that put a backend under load and measure it.

#![forbid(unsafe_code)]

mod args;
mod bench;
mod machine;
mod output;
mod worker;

use std::process::ExitCode;

use clap::Parser as _;

use crate::args::{Action, Arguments};

fn main() -> ExitCode {
    link_platform::router_threads::keep_to_one();
    link_client::install_crypto();
    let arguments = Arguments::parse();
    match run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::say(&format!("link-load: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

#[tokio::main]
async fn run(arguments: Arguments) -> anyhow::Result<()> {
    match arguments.action {
        Action::Hold(options) => bench::hold::run(options).await,
        Action::Storm(options) => bench::storm::run(options).await,
        Action::Commands(options) => bench::commands::run(options).await,
        Action::Reports(options) => bench::reports::run(options).await,
        Action::Siege(options) => bench::siege::run(options).await,
        Action::Check(options) => bench::check::run(&options),
        Action::Worker(options) => worker::child::run(options).await,
    }
}
