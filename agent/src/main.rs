//! The device agent: the shell around `link-agent-core`.
//!
//! Reads the arguments, takes the lock, loads who this device is, and runs until it is told to
//! stop. A device that is registered anew while the agent runs is taken up without a restart.

#![forbid(unsafe_code)]

mod args;
mod download;
mod effects;
mod engine;
mod identity;
mod journal;
mod local_api;
mod pipeline;
mod proxy;
mod report;
mod run;
mod transport;

use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser as _;
use link_platform::{fs, paths::Roots};

use crate::{args::Args, run::Outcome};

fn main() -> ExitCode {
    let args = Args::parse();
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::new(&args.log))
        .with_writer(std::io::stderr)
        .init();
    link_client::install_crypto();
    match start(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn start(args: &Args) -> anyhow::Result<()> {
    let roots = Roots::find(args.home.as_deref())?;
    fs::create_private_dir(&roots.state)?;
    let _lock = fs::try_lock(&roots.agent_lock())?
        .with_context(|| format!("another agent runs with {}", roots.state.display()))?;
    fs::write_private(&roots.agent_pid(), std::process::id().to_string().as_bytes())?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    let ended = runtime.block_on(async {
        loop {
            match run::run(args, &roots).await? {
                Outcome::Stopped => return Ok(()),
                Outcome::RegisteredAnew => tracing::info!("registered anew; starting over"),
            }
        }
    });
    fs::remove_file(&roots.agent_pid())?;
    ended
}
