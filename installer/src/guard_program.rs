//! The guard: the parent of the agent, and the only program of Link that the system starts.
//!
//! A shell around [`crate::decide::guard`]. The guard holds a lock, writes its process id, and starts the agent of the
//! current version as a child that ends with the guard. It restarts the agent when it ends, and commits or rolls back a
//! version on trial. If a service manager expects notifications, the guard reports that the agent has started and that
//! the guard is alive.

#![expect(clippy::disallowed_methods, reason = "IO shell: the clock, processes, the environment")]

use std::{ffi::OsString, path::PathBuf, process::ExitCode, time::Duration};

use link_platform::{
    awake::Awake,
    first_process, fs,
    line::Line,
    names,
    notify::{self, Note},
    paths::Roots,
    process::{self, Program, TiedChild},
    program,
    signal::{ChildEnd, Termination},
};
use link_protocol::{
    error_chain::chain,
    guard_line::{FromAgent, FromGuard},
};

use crate::{
    decide::{
        guard::{Cause, Effect, End, Event, Fault, Guard, Limits, PORT_TAKEN},
        update::TrialFailure,
    },
    layout::Layout,
    service,
    versions::{self, Asker, ChangeError, Versions},
};

/// Size above which the log of the guard and the agent is truncated, in bytes.
const LOG_LIMIT: u64 = 64 * 1024 * 1024;

/// Timeout for sending a message to the agent.
const HEARING: Duration = Duration::from_secs(1);

/// Runs the program with the arguments of this process.
#[must_use]
pub fn main() -> ExitCode {
    if let Some(code) = first_process::run_below() {
        return code;
    }
    names::keep_to_what_is_built_in();
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
    let lock = fs::try_lock(&layout.guard_lock());
    if matches!(lock, Ok(None)) {
        // The agent has its guard. The task scheduler of Windows looks every few minutes, so this is for a terminal and not for
        // the log. After a failure, it would try again every minute.
        tell(&format!("another guard runs with {}; nothing to do", roots.state.display()));
        return Ok(());
    }
    process::log_lost_errors(&layout.agent_log())?;
    let _lock = lock?;
    // Continue even if the disk is full: the agent must run. The id of a guard that was killed is removed before, because
    // deleting works on a full disk too, and `link stop` would end whatever has that id now.
    let pid = layout.guard_pid();
    let id = std::process::id().to_string();
    let removed = fs::remove_file(&pid);
    if let Err(error) = fs::write_private(&pid, id.as_bytes()).and(removed) {
        tell(&chain(&error));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(guard(layout.clone()));
    fs::remove_file(&layout.guard_pid())?;
    ended
}

async fn guard(layout: Layout) -> anyhow::Result<()> {
    // A machine that sleeps neither ends a trial nor makes an agent silent.
    let started = Awake::start();
    let mut stop = Termination::listen()?;
    let mut child_end = ChildEnd::listen()?;
    let (mut guard, first) = Guard::new(Duration::ZERO, limits());
    let mut shell = Shell { layout, agent: None, line: None, trial: None };
    if shell.resolve_trial(Asker::StartingGuard) {
        let _nothing_yet = guard.handle(Event::OnTrial { started: true }, Duration::ZERO);
    }
    shell.refresh();
    let mut effects = vec![first];
    let mut ready = false;
    // Report twice within the watchdog interval of the service manager.
    let mut alive = notify::watchdog().map(|limit| tokio::time::interval(limit / 2));
    loop {
        for effect in std::mem::take(&mut effects) {
            if effect == Effect::Finish {
                shell.end(guard.has_trial());
                return Ok(());
            }
            if let Some(event) = shell.run(effect).await {
                effects.extend(guard.handle(event, started.elapsed()));
            }
        }
        if shell.agent.is_some() && !ready {
            notify::tell(Note::Ready);
            ready = true;
        }
        let event = if guard.expects_agent()
            && let Some(end) = shell.reap()
        {
            // An agent that ends between the two steps of its replacement has not reported it.
            if !guard.has_trial() && shell.resolve_trial(Asker::RunningGuard) {
                effects = guard.handle(Event::AgentEnded(end), started.elapsed());
                Event::OnTrial { started: true }
            } else {
                Event::AgentEnded(end)
            }
        } else {
            let left = guard.deadline().map(|at| at.saturating_sub(started.elapsed()));
            tokio::select! {
                () = stop.received() => Event::StopRequested,
                _interrupted = tokio::signal::ctrl_c() => Event::StopRequested,
                () = child_end.received() => continue,
                () = tick(alive.as_mut()) => {
                    notify::tell(Note::Alive);
                    continue;
                }
                told = next(shell.line.as_mut()) => match shell.heard(told, guard.has_trial()).await {
                    Some(event) => event,
                    None => continue,
                },
                () = until(left) => Event::DeadlineReached,
            }
        };
        if event == Event::StopRequested {
            notify::tell(Note::Stopping);
        }
        effects.extend(guard.handle(event, started.elapsed()));
    }
}

/// The time limits of the guard.
fn limits() -> Limits {
    let Limits { window, silence } = Limits::default();
    Limits {
        window: told("LINK_DEV_UPDATE_WINDOW").unwrap_or(window),
        silence: told("LINK_DEV_SILENCE").or(silence).filter(|_| Line::WORKS),
    }
}

/// Returns the time from an environment variable in seconds. Only development builds read it.
fn told(variable: &str) -> Option<Duration> {
    let told = std::env::var(variable).ok().filter(|_| cfg!(debug_assertions))?;
    told.parse().ok().map(Duration::from_secs)
}

/// The agent's process, the connection to it, and the version on trial.
struct Shell {
    layout: Layout,
    agent: Option<TiedChild>,
    line: Option<Line>,
    /// The version on trial.
    trial: Option<semver::Version>,
}

impl Shell {
    /// Runs an effect, and returns the event that immediately results from it, if any.
    async fn run(&mut self, effect: Effect) -> Option<Event> {
        match effect {
            Effect::StartAgent => self.start(),
            Effect::TerminateAgent => self.agent.iter().for_each(TiedChild::terminate),
            Effect::KillAgent(cause) => {
                tell(match cause {
                    Cause::GoesOn => "the agent did not stop when asked; killing it",
                    Cause::NotWell => "the agent on trial is unhealthy; killing it",
                    Cause::Silent => "the agent has stopped sending heartbeats; killing it",
                });
                self.agent.iter_mut().for_each(TiedChild::kill);
            }
            Effect::Commit => {
                let tried = self.trial.take()?;
                if self.change(|versions| versions.commit(&tried)).is_some() {
                    tell(&format!("version {tried} has proved itself"));
                    self.tell(&FromGuard::Committed).await;
                }
                return self.resolve_another_trial();
            }
            Effect::RollBack(fault) => {
                let tried = self.trial.take()?;
                let reason = match fault {
                    Fault::Ended => "it ended within its trial",
                    Fault::NotWell => "it was not well at the end of its trial",
                    Fault::PortTaken => "another program has the port of its local API",
                };
                tell(&format!("rolling version {tried} back: {reason}"));
                let is_its_fault = fault != Fault::PortTaken;
                let failure = TrialFailure { reason: reason.to_owned(), is_its_fault };
                let _told = self.change(|versions| versions.roll_back(&tried, failure));
                return self.resolve_another_trial();
            }
            Effect::Finish => {}
        }
        None
    }

    /// Replaces the guard's file with that of the current version. The next start runs it.
    fn refresh(&self) {
        if self.layout.versions().exists() {
            let _told = self.change(Versions::refresh_guard);
        }
    }

    /// Restarts a trial that could not be ended, or starts a trial that has begun in the meantime.
    fn resolve_another_trial(&mut self) -> Option<Event> {
        let pending = versions::state(&self.layout).pending.is_some();
        (pending && self.resolve_trial(Asker::RunningGuard))
            .then_some(Event::OnTrial { started: true })
    }

    fn start(&mut self) {
        // The agent starts even if its log cannot be truncated.
        let _uncut = fs::truncate_above(&self.layout.agent_log(), LOG_LIMIT);
        let path = agent(&self.layout);
        let log = Some(self.layout.agent_log());
        let program = Program { path, args: vec![], env: carried(&self.layout), log };
        match Line::start(&program) {
            Ok((child, line)) => (self.agent, self.line) = (Some(child), Some(line)),
            Err(error) => tell(&format!("cannot start `{}`: {error}", program.path.display())),
        }
    }

    /// Returns how the agent ended, if it has. An agent that could not be started has failed.
    fn reap(&mut self) -> Option<End> {
        let ended = match self.agent.as_mut().map(TiedChild::try_wait) {
            Some(Ok(None)) => return None,
            Some(Ok(Some(status))) => {
                tell(&format!("the agent ended ({status})"));
                match status.code() {
                    Some(0) => End::InOrder,
                    Some(code) if code == i32::from(PORT_TAKEN) => End::PortTaken,
                    Some(_) | None => End::Failed,
                }
            }
            Some(Err(error)) => {
                tell(&format!("the agent cannot be watched: {error}"));
                End::Failed
            }
            None => End::Failed,
        };
        (self.agent, self.line) = (None, None);
        Some(ended)
    }

    /// Returns the event that results from a line that the agent has sent.
    async fn heard(&mut self, told: Option<String>, on_trial: bool) -> Option<Event> {
        let Some(text) = told else {
            self.line = None;
            return None;
        };
        match serde_json::from_str(&text).ok()? {
            FromAgent::Replacing => {
                self.resolve_trial(Asker::RunningGuard).then_some(Event::OnTrial { started: false })
            }
            FromAgent::Alive { version, local_port } if on_trial => {
                if self.trial.as_ref() != Some(&version) {
                    return None;
                }
                // An agent that is not registered has no local API.
                if local_port.is_none() && !self.layout.roots().identity().exists() {
                    return Some(Event::Well);
                }
                self.tell(&FromGuard::Healthz).await;
                Some(Event::Runs)
            }
            FromAgent::Answered { version } if on_trial => {
                (self.trial.as_ref() == Some(&version)).then_some(Event::Well)
            }
            FromAgent::Alive { .. } | FromAgent::Answered { .. } => {
                let _uncut = fs::truncate_above(&self.layout.agent_log(), LOG_LIMIT);
                Some(self.resolve_another_trial().unwrap_or(Event::Heard))
            }
        }
    }

    /// Resolves an interrupted replacement. Returns whether a version is on trial.
    fn resolve_trial(&mut self, asker: Asker) -> bool {
        // The folder of a development build contains no versions.
        let resolve = |versions: &Versions| versions.resolve(asker);
        let has_versions = self.layout.versions().exists();
        self.trial = has_versions.then(|| self.change(resolve)).flatten().flatten();
        self.trial.is_some()
    }

    fn change<T>(&self, change: impl FnOnce(&Versions) -> Result<T, ChangeError>) -> Option<T> {
        let versions = Versions::lock_within(&self.layout, versions::PATIENCE);
        versions
            .and_then(|versions| change(&versions))
            .inspect_err(|error| tell(&format!("the versions cannot be changed: {}", chain(error))))
            .ok()
    }

    async fn tell(&mut self, what: &FromGuard) {
        if let Some(line) = &mut self.line
            && let Ok(text) = serde_json::to_string(what)
        {
            // An agent that does not read must not block the guard.
            let _unheard = tokio::time::timeout(HEARING, line.tell(&text)).await;
        }
    }

    /// Uncounts this start of the trial: a stop during the trial is not the version's fault.
    fn end(&self, on_trial: bool) {
        if on_trial {
            let _told = self.change(Versions::uncount_start);
        }
    }
}

/// Returns the path of the current version's agent, or of the agent beside this program in a development build.
fn agent(layout: &Layout) -> PathBuf {
    let installed = versions::program(layout, program::AGENT);
    let beside = || Some(std::env::current_exe().ok()?.with_file_name(program::AGENT));
    if installed.is_file() { installed } else { beside().unwrap_or(installed) }
}

/// Returns the variables of the installation that a task could not set for this guard.
fn carried(layout: &Layout) -> Vec<(OsString, OsString)> {
    let known = service::manager().carried(layout);
    let missing = known.into_iter().filter(|(name, _)| std::env::var_os(name).is_none());
    missing.map(|(name, value)| (name.into(), value.into())).collect()
}

async fn next(line: Option<&mut Line>) -> Option<String> {
    match line {
        Some(line) => line.next().await,
        None => std::future::pending().await,
    }
}

async fn tick(interval: Option<&mut tokio::time::Interval>) {
    match interval {
        Some(interval) => drop(interval.tick().await),
        None => std::future::pending().await,
    }
}

async fn until(left: Option<Duration>) {
    match left {
        Some(left) => tokio::time::sleep(left).await,
        None => std::future::pending().await,
    }
}

#[expect(clippy::print_stderr, reason = "the guard's log is its standard error")]
fn tell(message: &str) {
    let now = jiff::Timestamp::now();
    eprintln!("{now:.6} link-guard: {message}");
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[tokio::test]
    async fn the_shell_starts_the_agent_and_says_how_it_ended() {
        for (script, end) in [
            ("exit 0", End::InOrder),
            ("exit 1", End::Failed),
            ("exit 76", End::PortTaken),
            ("kill -9 $$", End::Failed),
        ] {
            let home = tempfile::tempdir().unwrap();
            let mut shell = shell(&home);
            let program = agent(&shell.layout);
            std::fs::create_dir_all(shell.layout.current()).unwrap();
            let program = shell.layout.current().join(program.file_name().unwrap());
            std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
            std::fs::set_permissions(&program, PermissionsExt::from_mode(0o700)).unwrap();
            let mut child_end = ChildEnd::listen().unwrap();
            assert_eq!(shell.run(Effect::StartAgent).await, None);
            assert!(shell.agent.is_some(), "{script}");
            let ended = loop {
                match shell.reap() {
                    Some(end) => break end,
                    None => child_end.received().await,
                }
            };
            assert_eq!(ended, end, "{script}");
            assert!(shell.agent.is_none(), "{script}");
        }
    }

    #[test]
    fn an_agent_that_could_not_be_started_has_failed_and_a_build_folder_has_no_trial() {
        let home = tempfile::tempdir().unwrap();
        let mut shell = shell(&home);
        assert_eq!(shell.reap(), Some(End::Failed));
        assert!(!shell.resolve_trial(Asker::StartingGuard));
        assert!(!shell.layout.lock().exists());
    }

    fn shell(home: &tempfile::TempDir) -> Shell {
        let layout = Layout::new(Roots::find(Some(home.path())).unwrap());
        fs::create_private_dir(&layout.roots().logs()).unwrap();
        Shell { layout, agent: None, line: None, trial: None }
    }
}
