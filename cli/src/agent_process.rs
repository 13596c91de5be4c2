//! The agent's processes on this machine, the guard and the agent itself: whether they run, start,
//! stop.
//!
//! Each holds a lock while it runs, so neither is taken for running after a crash, and the process
//! id that is stopped is never another program's.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use link_client::local::LocalClient;
use link_installer::{layout::Layout, service::systemd};
use link_platform::{fs, process};

use link_protocol::exit_code::ExitCode;

use crate::{
    context::Context, error::CliError, error_code::ErrorCode, resolve, service, wait::Deadline,
};

/// How long the agent may take to start or to stop.
const PATIENCE: Duration = Duration::from_secs(30);
/// An agent that does not hold its lock after this long has ended.
const GRACE: Duration = Duration::from_secs(2);
/// What the agent must not inherit.
const SECRETS: [&str; 3] = ["LINK_REGISTRATION_KEY", "LINK_FLEET_KEY", "LINK_ACCESS_TOKEN"];

/// What a start did.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Started {
    /// It runs already.
    Before,
    Now,
}

/// Tells whether the agent runs, or is kept running by its guard.
///
/// # Errors
/// When a lock cannot be looked at.
pub(crate) fn is_running(context: &Context) -> Result<bool, CliError> {
    let guard = Layout::new(context.roots.clone()).guard_lock();
    Ok(is_held(&guard)? || is_held(&context.roots.agent_lock())?)
}

/// Starts the guard, and by it the agent, unless it runs; waits until the agent answers. The unit
/// starts it when there is one.
///
/// # Errors
/// When it is not installed, ends at once, or does not answer in time.
pub(crate) async fn start(context: &Context) -> Result<Started, CliError> {
    let layout = Layout::new(context.roots.clone());
    let by_unit = service::uses_unit(&layout);
    if is_running(context)? {
        if !by_unit || systemd::is_active() {
            return Ok(Started::Before);
        }
        // It was started without the unit, which then says that it does not run.
        stop(context).await?;
    }
    fs::create_private_dir(&context.roots.logs()).map_err(|error| CliError::file(&error))?;
    // What an agent that was killed has left behind says nothing of the one that starts.
    fs::remove_file(&context.roots.agent_pid()).map_err(|error| CliError::file(&error))?;
    let guard = if by_unit {
        service::start()?;
        None
    } else {
        Some(spawn(&layout)?)
    };
    wait_until_up(context, &layout, guard).await
}

/// Starts the guard as a process in the background.
fn spawn(layout: &Layout) -> Result<u32, CliError> {
    let program = process::Program {
        path: executable(layout)?,
        args: Vec::new(),
        env: SECRETS.iter().map(|name| ((*name).into(), "".into())).collect(),
        log: Some(layout.agent_log()),
    };
    process::spawn_detached(&program).map_err(|error| {
        let message = format!("failed to start `{}`: {error}", program.path.display());
        CliError::new(ExitCode::NotRunning, ErrorCode::NotRunning, message)
    })
}

/// Waits until the agent answers; `guard` is the process that was started, if it is known.
async fn wait_until_up(
    context: &Context,
    layout: &Layout,
    guard: Option<u32>,
) -> Result<Started, CliError> {
    let log = layout.agent_log();
    let registered = resolve::identity(context)?.is_some();
    let local = LocalClient::of(&context.roots);
    let (deadline, grace) = (Deadline::after(PATIENCE), Deadline::after(GRACE));
    loop {
        // Both write their process ids once they hold their locks. The locks themselves are not
        // looked at while they may be about to be taken: looking takes them for a moment.
        let written = process_id(&layout.guard_pid());
        let up = written.is_some()
            && guard.is_none_or(|pid| written == Some(pid))
            && process_id(&context.roots.agent_pid()).is_some()
            && (!registered || local.healthz().await.is_ok());
        if up {
            return Ok(Started::Now);
        }
        if grace.has_passed() && !is_running(context)? {
            return Err(not_running("the agent ended as soon as it was started", &log));
        }
        if !deadline.pause_locally().await {
            return Err(not_running("the agent was started and does not answer", &log));
        }
    }
}

/// Says which port the local API has, where that is not the one that it should have.
///
/// # Errors
/// When LINK_LOCAL_PORT is not a port.
pub(crate) fn say_port(context: &Context) -> Result<(), CliError> {
    let wanted = context.local_port()?;
    if let Some(port) = LocalClient::of(&context.roots).port().filter(|port| *port != wanted) {
        context.output.say(&format!(
            "port {wanted} is in use by another program; the local API listens on port {port}"
        ));
    }
    Ok(())
}

/// Stops the guard and the agent; false when neither ran.
///
/// # Errors
/// When they do not end in time.
pub(crate) async fn stop(context: &Context) -> Result<bool, CliError> {
    let layout = Layout::new(context.roots.clone());
    // A guard that the unit starts again cannot be stopped by a signal.
    let by_unit = service::uses_unit(&layout) && systemd::is_active();
    if by_unit {
        service::stop()?;
    }
    if !is_running(context)? {
        return Ok(by_unit);
    }
    let deadline = Deadline::after(PATIENCE);
    let pid = loop {
        // An agent without a guard was started by hand.
        let guarded = is_held(&layout.guard_lock())?;
        let file = if guarded { layout.guard_pid() } else { context.roots.agent_pid() };
        if let Some(pid) = process_id(&file) {
            break pid;
        }
        if !is_running(context)? {
            return Ok(true);
        }
        if !deadline.pause_locally().await {
            return Err(deadline.gave_up("the agent runs and does not say its process id"));
        }
    };
    let signalled = process::terminate(pid);
    while is_running(context)? {
        if !deadline.pause_locally().await {
            let what =
                if signalled { "was told to stop and goes on" } else { "cannot be told to stop" };
            return Err(deadline.gave_up(&format!("the agent (process {pid}) {what}")));
        }
    }
    Ok(true)
}

fn is_held(lock: &Path) -> Result<bool, CliError> {
    match fs::try_lock(lock) {
        Ok(lock) => Ok(lock.is_none()),
        Err(error) if error.is_not_found() => Ok(false),
        Err(error) => Err(CliError::file(&error)),
    }
}

/// The process id that the program which runs, or ran last, has written.
fn process_id(file: &Path) -> Option<u32> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

/// The guard of the installation, or the one beside this program in a build folder.
fn executable(layout: &Layout) -> Result<PathBuf, CliError> {
    let beside = std::env::current_exe().ok().and_then(|own| {
        let own = own.canonicalize().unwrap_or(own);
        Some(own.parent()?.join(layout.guard().file_name()?))
    });
    [Some(layout.guard()), beside].into_iter().flatten().find(|path| path.is_file()).ok_or_else(
        || {
            CliError::new(
                ExitCode::NotRunning,
                ErrorCode::NotInstalled,
                "the agent is not installed",
            )
            .hint("install Link with install.sh")
        },
    )
}

fn not_running(message: &str, log: &Path) -> CliError {
    CliError::new(ExitCode::NotRunning, ErrorCode::NotRunning, message)
        .hint(format!("look at `{}`", log.display()))
}
