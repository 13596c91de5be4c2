//! The device agent: the shell around `link-agent-core`.
//!
//! Reads the arguments, takes the lock, loads this device's identity, and runs until it is asked to
//! stop. If the device is registered again while the agent runs, the agent starts over without a
//! restart of the process.

#![forbid(unsafe_code)]

mod args;
mod assembly;
mod components;
mod config;
mod control;
mod device;
mod effects;
mod guard_line;
mod identity;
mod inbox;
mod local_api;
mod named_host;
mod onboarding;
mod run;
mod serving;
mod state;
mod stop_signal;
mod until_closed;

use std::{io::Write as _, process::ExitCode, time::Duration};

use anyhow::Context as _;
use clap::Parser as _;
use link_client::roots;
use link_installer::{guard::PORT_TAKEN, layout::Layout, stage::CANNOT_TELL, versions};
use link_platform::{
    checkpoint, contain, descriptors, first_process, fs, memory, names, paths::Roots, process,
    program, router_threads,
};
use link_protocol::config::AgentConfig;

use crate::{
    args::Args,
    assembly::Setup,
    control::log,
    device::{
        footprint,
        self_check::{self, CannotTell},
    },
    guard_line::GuardLine,
    local_api::PortTaken,
    run::RunOutcome,
    state::state_folder,
    stop_signal::StopSignal,
};

/// How long blocking file operations may take when the agent ends.
const LAST_WORK: Duration = Duration::from_secs(2);

fn main() -> ExitCode {
    if let Some(code) = contain::take_over().or_else(first_process::run_below) {
        return code;
    }
    names::keep_to_what_is_built_in();
    router_threads::keep_to_one();
    memory::keep_heap_together();
    let args = Args::parse();
    link_client::install_crypto();
    match start(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error:#}");
            if error.is::<CannotTell>() {
                ExitCode::from(CANNOT_TELL)
            } else if error.is::<PortTaken>() {
                ExitCode::from(PORT_TAKEN)
            } else {
                ExitCode::FAILURE
            }
        }
    }
}

fn start(args: &Args) -> anyhow::Result<()> {
    if args.config_schema {
        return Ok(std::io::stdout().write_all(config::SCHEMA.as_bytes())?);
    }
    let roots = Roots::find(args.home.as_deref())?;
    let config = config::load(&roots);
    let defaults = AgentConfig::default();
    let logging = config.as_ref().map_or(&defaults.logging, |config| &config.logging);
    let records = log::start(logging, args.log.as_deref());
    let config = config?;
    if args.check_config {
        let message = format!("`{}` has no faults\n", roots.agent_config().display());
        return Ok(std::io::stdout().write_all(message.as_bytes())?);
    }
    if let Some(root) = config.transport.as_ref().and_then(|one| one.tls_root_ca.as_ref()) {
        roots::trust(root)?;
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    if args.self_check {
        return runtime.block_on(self_check::run(&roots, args.connected));
    }
    state_folder::take(&roots)?;
    let _lock = fs::try_lock(&roots.agent_lock())?
        .with_context(|| format!("another agent already uses `{}`", roots.state.display()))?;
    // A full disk may be freed later; the models being served must not stop because of it. The id of an agent that was killed
    // is removed before, which works on a full disk too: another program may have that id by now.
    let (pid, id) = (roots.agent_pid(), std::process::id().to_string());
    let removed = fs::remove_file(&pid);
    if let Err(error) = fs::write_private(&pid, id.as_bytes()).and(removed) {
        tracing::warn!("{error}");
    }
    if let Err(error) = descriptors::raise_limit() {
        tracing::debug!("cannot raise the limit of file descriptors: {error}");
    }
    let setup = Setup { args, roots: &roots, config: &config, records: &records };
    let ended: anyhow::Result<RunOutcome> = runtime.block_on(async {
        let guard = GuardLine::start();
        let _lasting = tokio::spawn(footprint::keep_small());
        // One for all runs: a request that arrives between two of them stops the agent too.
        let mut stop = StopSignal::listen()?;
        loop {
            match run::run(&setup, &guard, &mut stop).await? {
                RunOutcome::Stopped => return Ok(RunOutcome::Stopped),
                RunOutcome::RegisteredAnew => tracing::info!("the device was registered again; starting over"),
                RunOutcome::HandedOver => tracing::warn!(
                    category = "security",
                    "this device was transferred to another account; starting over without its models"
                ),
                RunOutcome::MakesWay => {
                    guard.tell_replacing().await;
                    // The next image would not know of a request to stop.
                    let stops = stop.has_arrived();
                    return Ok(if stops { RunOutcome::Stopped } else { RunOutcome::MakesWay });
                }
            }
        }
    });
    // A stuck file operation must not keep the agent from ending.
    runtime.shutdown_timeout(LAST_WORK);
    match ended? {
        RunOutcome::MakesWay => make_way(&roots),
        RunOutcome::Stopped | RunOutcome::RegisteredAnew | RunOutcome::HandedOver => {
            Ok(fs::remove_file(&roots.agent_pid())?)
        }
    }
}

/// Lets the new current version replace this process and keep its process id. If that fails, the
/// process ends with an error and the guard restores this version. Where no process can be replaced, this one ends.
fn make_way(roots: &Roots) -> anyhow::Result<()> {
    if !process::REPLACES_IMAGES {
        // The guard starts the current version as soon as this process has ended.
        return Ok(());
    }
    let program = versions::program(&Layout::new(roots.clone()), program::AGENT);
    checkpoint::reach("before-exec");
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let error = process::replace_image(&program, &arguments);
    Err(error).with_context(|| format!("`{}` cannot take over", program.display()))
}
