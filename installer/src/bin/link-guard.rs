//! The guard: the parent of the agent, and the only program of Link that the system starts.
//!
//! A shell around [`link_installer::guard`]. It holds a lock, writes its process id, starts the
//! agent of the current version as a child that ends with it, and starts it again when it ends.
//! A service manager that asked is told when the agent is started, and that the guard is alive.

#![forbid(unsafe_code)]
#![expect(clippy::disallowed_methods, reason = "IO shell: the clock, processes, the environment")]

use std::{
    path::PathBuf,
    process::ExitCode,
    time::{Duration, Instant},
};

use link_installer::{
    guard::{Effect, Event, Guard},
    layout::Layout,
};
use link_platform::{
    fs,
    notify::{self, Note},
    paths::Roots,
    process::{Program, TiedChild},
    signal::{ChildEnd, Termination},
};

fn main() -> ExitCode {
    if let Some(argument) = std::env::args().nth(1) {
        return answer(&argument);
    }
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tell(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::print_stdout, reason = "a person asked")]
fn answer(argument: &str) -> ExitCode {
    match argument {
        "--version" => println!("link-guard {}", env!("CARGO_PKG_VERSION")),
        "--help" => println!(
            "Keeps the Link agent running. `link start` starts it, `link stop` stops it.\n\n\
             LINK_HOME  one folder for all of Link's files"
        ),
        other => {
            tell(&format!("unknown argument `{other}`; try --help"));
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

fn run() -> anyhow::Result<()> {
    let home = std::env::var_os("LINK_HOME").map(PathBuf::from);
    let layout = Layout::new(Roots::find(home.as_deref())?);
    let roots = layout.roots();
    fs::create_private_dir(&roots.logs())?;
    let Some(_lock) = fs::try_lock(&layout.guard_lock())? else {
        anyhow::bail!("another guard runs with {}", roots.state.display());
    };
    fs::write_private(&layout.guard_pid(), std::process::id().to_string().as_bytes())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(guard(&layout));
    fs::remove_file(&layout.guard_pid())?;
    ended
}

async fn guard(layout: &Layout) -> anyhow::Result<()> {
    let started = Instant::now();
    let mut stop = Termination::listen()?;
    let mut child_end = ChildEnd::listen()?;
    let (mut guard, first) = Guard::new(Duration::ZERO);
    let mut agent = None;
    let mut next = Some(first);
    let mut ready = false;
    // Twice within the time that the service manager gives.
    let mut alive = notify::watchdog().map(|limit| tokio::time::interval(limit / 2));
    loop {
        match next.take() {
            Some(Effect::StartAgent) => agent = start(layout),
            Some(Effect::TerminateAgent) => agent.iter().for_each(TiedChild::terminate),
            Some(Effect::KillAgent) => agent.iter_mut().for_each(TiedChild::kill),
            Some(Effect::Finish) => return Ok(()),
            None => {}
        }
        if agent.is_some() && !ready {
            notify::tell(Note::Ready);
            ready = true;
        }
        let event = if guard.expects_agent() && has_ended(agent.as_mut()) {
            agent = None;
            Event::AgentEnded
        } else {
            let deadline = guard.deadline().map(|at| tokio::time::Instant::from_std(started + at));
            tokio::select! {
                () = stop.received() => Event::StopRequested,
                _interrupted = tokio::signal::ctrl_c() => Event::StopRequested,
                () = child_end.received() => continue,
                () = tick(alive.as_mut()) => {
                    notify::tell(Note::Alive);
                    continue;
                }
                () = until(deadline) => Event::DeadlineReached,
            }
        };
        if event == Event::StopRequested {
            notify::tell(Note::Stopping);
        }
        next = guard.handle(event, started.elapsed());
    }
}

/// Tells whether the agent has ended; one that could not be started has.
fn has_ended(agent: Option<&mut TiedChild>) -> bool {
    agent.is_none_or(|agent| match agent.try_wait() {
        Ok(None) => false,
        Ok(Some(status)) => {
            tell(&format!("the agent ended ({status})"));
            true
        }
        Err(error) => {
            tell(&format!("the agent cannot be watched: {error}"));
            true
        }
    })
}

fn start(layout: &Layout) -> Option<TiedChild> {
    let path = agent(layout);
    let program = Program { path, args: vec![], env: vec![], log: Some(layout.agent_log()) };
    match TiedChild::start(&program) {
        Ok(child) => Some(child),
        Err(error) => {
            tell(&format!("cannot start `{}`: {error}", program.path.display()));
            None
        }
    }
}

/// The agent of the current version, or the one beside this program in a build folder.
fn agent(layout: &Layout) -> PathBuf {
    let name = format!("link-agent{}", std::env::consts::EXE_SUFFIX);
    let installed = layout.current().join(&name);
    let beside = || Some(std::env::current_exe().ok()?.with_file_name(&name));
    if installed.is_file() { installed } else { beside().unwrap_or(installed) }
}

async fn tick(interval: Option<&mut tokio::time::Interval>) {
    match interval {
        Some(interval) => drop(interval.tick().await),
        None => std::future::pending().await,
    }
}

async fn until(deadline: Option<tokio::time::Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

#[expect(clippy::print_stderr, reason = "the guard's log is its standard error")]
fn tell(message: &str) {
    eprintln!("link-guard: {message}");
}
