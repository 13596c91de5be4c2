//! `cargo xtask stop`: stops the checkout's agent, the installed agent with its service, and a
//! router that is installed as a service. Prints which of them were running.

use std::{ffi::OsString, io, path::Path, time::Duration};

use anyhow::Context as _;
use link_installer::{layout::Layout, service};
use link_platform::{
    fs,
    paths::Roots,
    process::{self, Answer, Call},
};

use super::{
    checkout::{Checkout, done, installation},
    trouble::Trouble,
};

/// The router's service, as its packages name it.
const ROUTER: &str = "zenohd.service";
/// How long the service manager may take to stop the router.
const PATIENCE: Duration = Duration::from_secs(60);

/// Stops the agents and the router.
///
/// # Errors
/// The programs that still run, and how to stop them.
pub(super) fn run(checkout: &Checkout) -> anyhow::Result<()> {
    stop_checkout(checkout)?;
    report("the installed agent", stop(checkout, None)?);
    for scope in ["--user", "--system"] {
        if stop_router(scope)? {
            report(&format!("the router {ROUTER} ({})", &scope[2..]), true);
        }
    }
    Ok(())
}

/// Stops the checkout's agent.
///
/// # Errors
/// If the agent does not stop.
pub(super) fn stop_checkout(checkout: &Checkout) -> anyhow::Result<()> {
    let stopped = stop(checkout, Some(checkout.home.path()))?;
    report("the agent of this checkout", stopped);
    Ok(())
}

/// Stops the agent of the home `home`, or that of the installation. Returns false if it was not
/// running.
///
/// # Errors
/// If the agent does not stop.
pub(super) fn stop(checkout: &Checkout, home: Option<&Path>) -> anyhow::Result<bool> {
    let roots = home.map_or_else(installation, |home| Ok(Roots::below(home)))?;
    if !runs(&Layout::new(roots))? {
        return Ok(false);
    }
    let mut link = checkout.link()?;
    link.args(["stop", "--quiet"]);
    if let Some(home) = home {
        link.env("LINK_HOME", home);
    }
    done(&mut link, "the agent is still running", "do what it says above, and run it again")?;
    Ok(true)
}

/// Returns whether an agent, its guard or its service is running.
///
/// # Errors
/// If a lock cannot be checked.
pub(super) fn runs(layout: &Layout) -> anyhow::Result<bool> {
    for lock in [layout.guard_lock(), layout.roots().agent_lock()] {
        match fs::try_lock(&lock) {
            Ok(None) => return Ok(true),
            Ok(Some(_)) => {}
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error.into()),
        }
    }
    let manager = service::manager();
    Ok(manager.has_unit(layout) && manager.is_active(layout))
}

fn stop_router(scope: &str) -> anyhow::Result<bool> {
    let Ok(active) = systemctl(scope, "is-active") else { return Ok(false) };
    if !active.success {
        return Ok(false);
    }
    let stopped = systemctl(scope, "stop").context("failed to stop the router")?;
    if stopped.success {
        return Ok(true);
    }
    let what = format!("the router {ROUTER} is still running: {}", stopped.stderr);
    Err(Trouble::new(what, format!("stop it as root: `systemctl stop {ROUTER}`")).into())
}

fn systemctl(scope: &str, verb: &str) -> io::Result<Answer> {
    let args = [scope, "--no-ask-password", verb, ROUTER].map(OsString::from).to_vec();
    process::call(&Call { program: "systemctl".into(), args, env: None, limit: PATIENCE })
}

fn report(what: &str, stopped: bool) {
    println!("{what} {}", if stopped { "is stopped" } else { "did not run" });
}
