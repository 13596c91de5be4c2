//! The agent's process on this machine: whether it runs, start, stop.
//!
//! A running agent holds a lock, so it is never taken for running after a crash, and the process id
//! that is stopped is never another program's.

use std::{path::PathBuf, time::Duration};

use link_client::local::LocalClient;
use link_platform::{fs, process};

use crate::{context::Context, error::CliError, exit_code::ExitCode, resolve, wait::Deadline};

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
    Now {
        pid: u32,
    },
}

/// Tells whether the agent runs.
///
/// # Errors
/// When its lock cannot be looked at.
pub(crate) fn is_running(context: &Context) -> Result<bool, CliError> {
    match fs::try_lock(&context.roots.agent_lock()) {
        Ok(lock) => Ok(lock.is_none()),
        Err(error) if error.is_not_found() => Ok(false),
        Err(error) => Err(CliError::file(&error)),
    }
}

/// Starts the agent unless it runs, and waits until it answers.
///
/// # Errors
/// When it is not installed, ends at once, or does not answer in time.
pub(crate) async fn start(context: &Context) -> Result<Started, CliError> {
    if is_running(context)? {
        return Ok(Started::Before);
    }
    fs::create_private_dir(&context.roots.logs()).map_err(|error| CliError::file(&error))?;
    let log = context.roots.logs().join("agent.log");
    let program = process::Program {
        path: executable(context)?,
        args: Vec::new(),
        env: SECRETS.iter().map(|name| ((*name).into(), "".into())).collect(),
        log: Some(log.clone()),
    };
    let pid = process::spawn_detached(&program).map_err(|error| {
        let message = format!("failed to start `{}`: {error}", program.path.display());
        CliError::new(ExitCode::NotRunning, "not-running", message)
    })?;
    let registered = resolve::identity(context)?.is_some();
    let local = LocalClient::new(context.local_port()?)?;
    let (deadline, grace) = (Deadline::after(PATIENCE), Deadline::after(GRACE));
    loop {
        // The agent writes its process id once it holds the lock. The lock itself is not looked at
        // while the agent may be about to take it: looking takes it for a moment.
        let up = process_id(context) == Some(pid) && (!registered || local.healthz().await.is_ok());
        if up {
            return Ok(Started::Now { pid });
        }
        if grace.has_passed() && !is_running(context)? {
            return Err(not_running("the agent ended as soon as it was started", &log));
        }
        if !deadline.pause_locally().await {
            return Err(not_running("the agent was started and does not answer", &log));
        }
    }
}

/// Stops the agent; false when it did not run.
///
/// # Errors
/// When it does not end in time.
pub(crate) async fn stop(context: &Context) -> Result<bool, CliError> {
    if !is_running(context)? {
        return Ok(false);
    }
    let deadline = Deadline::after(PATIENCE);
    let pid = loop {
        if let Some(pid) = process_id(context) {
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

/// The process id that the agent which runs, or ran last, has written.
fn process_id(context: &Context) -> Option<u32> {
    fs::read_to_string(&context.roots.agent_pid()).ok()?.trim().parse().ok()
}

/// The agent of the installation, or the one beside this program in a build folder.
fn executable(context: &Context) -> Result<PathBuf, CliError> {
    let name = format!("link-agent{}", std::env::consts::EXE_SUFFIX);
    let installed = context.roots.data.join("current").join(&name);
    let beside = std::env::current_exe().ok().and_then(|own| {
        let own = own.canonicalize().unwrap_or(own);
        Some(own.parent()?.join(&name))
    });
    [Some(installed), beside].into_iter().flatten().find(|path| path.is_file()).ok_or_else(|| {
        CliError::new(ExitCode::NotRunning, "not-installed", "the agent is not installed")
            .hint("install Link with install.sh")
    })
}

fn not_running(message: &str, log: &std::path::Path) -> CliError {
    CliError::new(ExitCode::NotRunning, "not-running", message)
        .hint(format!("look at `{}`", log.display()))
}
