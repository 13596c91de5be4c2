//! Starts and stops the agent's processes on this machine, the guard and the agent, and checks
//! whether they run.
//!
//! Each process holds a lock while it runs. So a crashed process never counts as running, and the
//! signal never reaches another program that got the same process id.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use link_client::{http::Failure, local::LocalClient};
use link_installer::layout::Layout;
use link_platform::{fs, process};

use link_protocol::exit_code::ExitCode;

use crate::{
    agent_config, context::Context, error::CliError, error_code::ErrorCode, resolve, service,
    wait::Deadline,
};

/// The longest time for the agent to start or to stop.
const PATIENCE: Duration = Duration::from_secs(30);
/// An agent that has not taken its lock after this time has ended.
const GRACE: Duration = Duration::from_secs(2);
/// The same for an agent that a service manager starts, which may answer before it does so. A virus scanner may then still read
/// the program.
const GRACE_OF_SERVICE: Duration = Duration::from_secs(15);
/// The longest that another command may take to start the agent, which may have to stop one first.
const TURN: Duration = Duration::from_secs(70);
/// The file in the state folder that a command locks while it starts the agent.
const START_LOCK: &str = "start.lock";
/// Variables that the agent must not inherit.
const SECRETS: [&str; 3] = ["LINK_REGISTRATION_KEY", "LINK_FLEET_KEY", "LINK_ACCESS_TOKEN"];

/// The outcome of a start.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Started {
    /// The agent was already running.
    Before,
    Now,
}

/// Returns whether the agent or its guard runs. The guard restarts the agent.
///
/// # Errors
/// If a lock cannot be checked.
pub(crate) fn is_running(context: &Context) -> Result<bool, CliError> {
    let guard = Layout::new(context.roots.clone()).guard_lock();
    Ok(is_held(&guard)? || is_held(&context.roots.agent_lock())?)
}

/// Starts the guard, which starts the agent, unless it already runs. Waits until the agent answers.
/// If there is a systemd unit, it starts the guard.
///
/// # Errors
/// If the agent is not installed, its configuration has faults, it ends at once, or it does not
/// answer in time.
pub(crate) async fn start(context: &Context) -> Result<Started, CliError> {
    let layout = Layout::new(context.roots.clone());
    let _turn = turn(context).await?;
    let by_unit = service::uses_unit(&layout);
    if goes_on(context, &layout.guard_lock()).await? {
        if !by_unit || service::is_active(&layout) {
            return Ok(Started::Before);
        }
        // The agent was started without the unit, so the unit reports that it is inactive.
        stop(context).await?;
    }
    agent_config::check(context)?;
    fs::create_private_dir(&context.roots.logs()).map_err(|error| CliError::file(&error))?;
    // The process id of a killed agent would otherwise be mistaken for that of the new one.
    fs::remove_file(&context.roots.agent_pid()).map_err(|error| CliError::file(&error))?;
    let guard = if by_unit {
        service::start(&layout)?;
        None
    } else {
        Some(spawn(&layout)?)
    };
    wait_until_up(context, &layout, guard).await
}

/// Waits until no other command starts the agent: of two guards one would end at once, and its command would wait for it.
/// Returns none if the lock cannot be had: on a full disk, or where another user owns the file, the agent starts all the same.
async fn turn(context: &Context) -> Result<Option<fs::Lock>, CliError> {
    let state = &context.roots.state;
    let deadline = Deadline::after(TURN);
    loop {
        let tried =
            fs::create_private_dir(state).and_then(|()| fs::try_lock(&state.join(START_LOCK)));
        match tried {
            Ok(None) => {}
            taken => return Ok(taken.ok().flatten()),
        }
        if !deadline.pause_locally().await {
            let message = "another command is still starting the agent";
            return Err(CliError::new(ExitCode::Busy, ErrorCode::Busy, message)
                .hint("run this command again when the other one has ended"));
        }
    }
}

/// Returns whether the agent runs and will go on. A killed process keeps its lock for a moment, and an agent ends a moment
/// after its guard was killed; an agent without an answer or a guard gets that moment.
async fn goes_on(context: &Context, guard: &Path) -> Result<bool, CliError> {
    if !is_running(context)? {
        return Ok(false);
    }
    let grace = Deadline::after(GRACE);
    let is_silent =
        matches!(LocalClient::of(&context.roots).healthz().await, Err(Failure::Unavailable { .. }));
    // An agent without a registration has no local API.
    if !is_silent || resolve::identity(context)?.is_none() {
        let _paused = grace.pause_locally().await;
        if is_held(guard)? {
            return Ok(true);
        }
    }
    while is_running(context)? {
        if !grace.pause_locally().await {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Starts the guard as a background process.
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

/// Waits until the agent answers. `guard` is the process id of the started guard, none if a service manager
/// starts it.
async fn wait_until_up(
    context: &Context,
    layout: &Layout,
    guard: Option<u32>,
) -> Result<Started, CliError> {
    let log = layout.agent_log();
    let registered = resolve::identity(context)?.is_some();
    let local = LocalClient::of(&context.roots);
    let grace = if guard.is_some() { GRACE } else { GRACE_OF_SERVICE };
    let (deadline, grace) = (Deadline::after(PATIENCE), Deadline::after(grace));
    loop {
        // The guard and the agent write their process ids after they take their locks. Checking a
        // lock takes it briefly, so the locks are not checked while the two processes may be about
        // to take them.
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
            return Err(not_running("the agent was started but does not answer", &log));
        }
    }
}

/// Reports the port of the agent's local API if it differs from the configured port.
///
/// # Errors
/// If LINK_LOCAL_PORT is not a port.
pub(crate) fn say_port(context: &Context) -> Result<(), CliError> {
    let wanted = context.local_port()?;
    if let Some(port) = LocalClient::of(&context.roots).port().filter(|port| *port != wanted) {
        context.output.say(&format!(
            "port {wanted} is in use or reserved, so the local API listens on port {port}"
        ));
    }
    Ok(())
}

/// Stops the guard and the agent. Returns false if neither was running.
///
/// # Errors
/// If the guard or the agent does not end in time.
pub(crate) async fn stop(context: &Context) -> Result<bool, CliError> {
    let layout = Layout::new(context.roots.clone());
    // If only a signal stopped the guard, the unit would restart it.
    let by_unit = service::uses_unit(&layout) && service::is_active(&layout);
    if by_unit {
        service::stop()?;
    }
    if !is_running(context)? {
        return Ok(by_unit);
    }
    let deadline = Deadline::after(PATIENCE);
    let pid = loop {
        // Without a running guard, a person has started the agent.
        let guarded = is_held(&layout.guard_lock())?;
        let file = if guarded { layout.guard_pid() } else { context.roots.agent_pid() };
        if let Some(pid) = process_id(&file) {
            break pid;
        }
        if !is_running(context)? {
            return Ok(true);
        }
        if !deadline.pause_locally().await {
            return Err(deadline
                .gave_up("the agent runs without a process id file")
                .hint("try again; `link logs --local` shows what the agent does"));
        }
    };
    let signalled = process::terminate(pid);
    while is_running(context)? {
        if !deadline.pause_locally().await {
            let what =
                if signalled { "ignores the request to stop" } else { "cannot be signalled" };
            return Err(deadline.gave_up(&format!("the agent (process {pid}) {what}")).hint(format!(
                "end process {pid}, then try again; `link logs --local` shows what the agent does"
            )));
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

/// Returns the process of the agent, if it runs: without its lock, another program may have the process id that its file
/// names.
pub(crate) fn agent_pid(context: &Context) -> Option<u32> {
    let runs = matches!(is_held(&context.roots.agent_lock()), Ok(true));
    process_id(&context.roots.agent_pid()).filter(|_| runs)
}

/// Returns the process id in `file`, which the running program, or its last run, has written.
fn process_id(file: &Path) -> Option<u32> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

/// Returns the guard of the installation, or the guard beside this program in a development build.
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
        .hint(format!("see the log in `{}`", log.display()))
}
