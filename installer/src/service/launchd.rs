//! The user's launchd on macOS: loads, starts, stops and unloads the launch agent.
//!
//! Every question is a call of `launchctl`, whose exit code is the answer.

use std::{
    io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use link_platform::{
    paths::Roots,
    process::{self, Answer, Call},
    user_manager,
};

use super::PATIENCE;
use crate::decide::service::launchd::LABEL;

/// Exit codes of `launchctl bootstrap` for an agent that is already loaded, or that was unloaded a moment ago.
const LOADED: [i32; 2] = [5, 37];

/// How long launchd may take to end and unload an agent. It kills the agent after 30 seconds.
const SETTLING: Duration = Duration::from_secs(40);
/// How long a refused load is retried: launchd refuses an agent that was unloaded a moment ago.
const REFUSING: Duration = Duration::from_secs(15);
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// Returns the path of the launch agent's file.
pub(super) fn path() -> Option<PathBuf> {
    let (home, _) = Roots::of_user().ok()?;
    Some(home.join("Library").join("LaunchAgents").join(format!("{LABEL}.plist")))
}

/// Returns whether launchd has a domain for this user. A user without a login has none.
pub(super) fn answers() -> bool {
    domain().is_some()
}

/// Returns whether the launch agent is loaded. Launchd then keeps the guard running.
pub(super) fn is_active() -> bool {
    !loaded().is_empty()
}

/// Returns whether the user has disabled the launch agent.
pub(super) fn is_disabled() -> bool {
    let asked = domain().map(|domain| launchctl(&["print-disabled", &domain]));
    let Some(Ok(answer)) = asked else { return false };
    let mut lines = answer.stdout.lines().map(str::trim);
    lines.any(|line| {
        line.strip_prefix(&format!("\"{LABEL}\" => "))
            .is_some_and(|state| matches!(state.trim_end_matches(','), "disabled" | "true"))
    })
}

/// Enables the launch agent, so that launchd loads it at the next login.
pub(super) fn enable() -> io::Result<()> {
    done(launchctl(&["enable", &target(&own_domain()?)]))
}

/// Loads the launch agent from `path`. Launchd then starts the guard. For some seconds after an agent was unloaded, launchd refuses to
/// load it again.
pub(super) fn start(path: &Path) -> io::Result<()> {
    let domain = own_domain()?;
    enable()?;
    let path = path.to_str().ok_or(io::ErrorKind::InvalidInput)?;
    let until = Instant::now() + REFUSING;
    loop {
        let loaded = launchctl(&["bootstrap", &domain, path])?;
        if !loaded.code.is_some_and(|code| LOADED.contains(&code)) {
            return done(Ok(loaded));
        }
        if is_loaded(&domain) {
            return done(launchctl(&["kickstart", &target(&domain)]));
        }
        if Instant::now() >= until {
            return done(Ok(loaded));
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}

/// Unloads the launch agent, which ends the guard, and waits until it is unloaded, because `bootout` may return earlier, even
/// with an error. An agent that is not loaded counts as stopped.
pub(super) fn stop() -> io::Result<()> {
    let until = Instant::now() + SETTLING;
    for domain in loaded() {
        let stopped = launchctl(&["bootout", &target(&domain)])?;
        while is_loaded(&domain) {
            if Instant::now() >= until {
                return done(Ok(stopped)).and(Err(io::ErrorKind::TimedOut.into()));
            }
            std::thread::sleep(LOOK_AGAIN);
        }
    }
    Ok(())
}

/// Returns the domains that the launch agent is loaded in. After an installation by ssh, launchd has it in the domain of that
/// login, and loads it again into that of the next login at the screen.
fn loaded() -> Vec<String> {
    domains().into_iter().flatten().filter(|domain| is_loaded(domain)).collect()
}

fn is_loaded(domain: &str) -> bool {
    launchctl(&["print", &target(domain)]).is_ok_and(succeeded)
}

/// Returns the domain of this user: that of the login at the screen, else that of another login.
fn domain() -> Option<String> {
    domains()?.into_iter().find(|domain| launchctl(&["print", domain]).is_ok_and(succeeded))
}

/// Returns the names of the domains that a user may have: that of the login at the screen, and that of other logins.
fn domains() -> Option<[String; 2]> {
    let user = user_manager::user_id()?;
    Some(["gui", "user"].map(|kind| format!("{kind}/{user}")))
}

fn own_domain() -> io::Result<String> {
    domain().ok_or_else(|| io::Error::other("launchd has no domain for this user: log in first"))
}

fn target(domain: &str) -> String {
    format!("{domain}/{LABEL}")
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that `is_ok_and` asks for")]
fn succeeded(answer: Answer) -> bool {
    answer.success
}

fn done(asked: io::Result<Answer>) -> io::Result<()> {
    let answer = asked?;
    if answer.success { Ok(()) } else { Err(io::Error::other(answer.stderr)) }
}

fn launchctl(words: &[&str]) -> io::Result<Answer> {
    let args = words.iter().map(Into::into).collect();
    process::call(&Call { program: "launchctl".into(), args, env: None, limit: PATIENCE })
}
