//! Takes rights from a contained program between its start and its first instruction.

#![expect(
    clippy::disallowed_methods,
    reason = "IO shell: the environment and the limits of a program"
)]

use std::{
    fs, io,
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use rustix::{
    process::{Resource, Rlimit, getrlimit, setrlimit},
    thread::{CapabilitySet, CapabilitySets},
};

use super::{access, calls};
use crate::contain::rules::{Access, Files};

/// The most files that a program may have open.
const OPEN_FILES: u64 = 65_536;

/// The most processes and threads that a program can add to those of this machine.
const TASKS: u64 = 4096;

/// How readily the kernel ends the program when the machine has no memory left, from -1000 to 1000.
const FIRST_OUT: &str = "500";

/// The variables of the environment that a program does not get: they lead to other programs of this user, or hold the
/// password of a proxy.
const HIDDEN: &[&str] = &["DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK", "XDG_RUNTIME_DIR"];

/// Makes `command` start its program with `access`, and with less of the machine.
///
/// # Errors
/// If the system refuses the rules of the access.
pub(super) fn impose(command: &mut Command, access: &Access) -> io::Result<()> {
    hide_environment(command);
    if let Some(folder) = access.files.as_ref().and_then(work_folder) {
        command.current_dir(folder);
    }
    let mut ruleset = access::prepare(access, Path::new(command.get_program()))?;
    let filter = calls::prepare(access)?;
    let confined = access.files.is_some();
    let tasks = tasks().map(|tasks| tasks + TASKS);
    let restrict = move || {
        // Whoever is in this session or in one that began in it belongs to the program.
        rustix::process::setsid()?;
        limit(Resource::Core, 0)?;
        limit(Resource::Nofile, OPEN_FILES)?;
        if let Some(tasks) = tasks {
            limit(Resource::Nproc, tasks)?;
        }
        // A system without this file ends a process that it chooses itself.
        let _chosen = fs::write("/proc/self/oom_score_adj", FIRST_OUT);
        if confined {
            drop_capabilities();
        }
        rustix::thread::set_no_new_privs(true)?;
        if let Some(ruleset) = ruleset.take() {
            ruleset.restrict_self().map_err(io::Error::other)?;
        }
        match &filter {
            Some(filter) => seccompiler::apply_filter(filter).map_err(io::Error::other),
            None => Ok(()),
        }
    };
    #[expect(unsafe_code, reason = "limits a child between fork and exec")]
    // SAFETY: this process is a supervisor, which has one thread. So the child may do what any process may do.
    unsafe {
        command.pre_exec(restrict);
    }
    Ok(())
}

/// Takes the capabilities of root from this process and from what it starts. Another user has none.
fn drop_capabilities() {
    for bit in 0..u64::BITS {
        let capability = CapabilitySet::from_bits_retain(1 << bit);
        // Fails for a number that is no capability.
        let _dropped = rustix::thread::remove_capability_from_bounding_set(capability);
    }
    let _none = rustix::thread::clear_ambient_capability_set();
    let none = CapabilitySet::empty();
    let none = CapabilitySets { effective: none, permitted: none, inheritable: none };
    let _none = rustix::thread::set_capabilities(None, none);
}

/// Lowers a limit to `most`.
fn limit(resource: Resource, most: u64) -> io::Result<()> {
    let maximum = getrlimit(resource).maximum.map_or(most, |maximum| maximum.min(most));
    let limit = Rlimit { current: Some(maximum), maximum: Some(maximum) };
    setrlimit(resource, limit).map_err(io::Error::from)
}

/// Returns the number of processes and threads of this machine.
fn tasks() -> Option<u64> {
    // 0.20 0.18 0.12 1/80 11206
    let load = fs::read_to_string("/proc/loadavg").ok()?;
    load.split_whitespace().nth(3)?.split_once('/')?.1.parse().ok()
}

fn hide_environment(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let Some(text) = name.to_str() else { continue };
        let is_proxy = text.to_ascii_lowercase().ends_with("_proxy");
        if is_proxy || text.starts_with("LINK_") || HIDDEN.contains(&text) {
            command.env_remove(&name);
        }
    }
}

fn work_folder(files: &Files) -> Option<&PathBuf> {
    files.write.iter().find(|path| path.is_dir())
}
