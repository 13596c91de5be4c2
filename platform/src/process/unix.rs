//! Process groups, signals and the parent-death signal.

use std::{
    io,
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Child, Command},
};

use rustix::process::{Pid, Signal};

pub(super) fn tie_to_parent(command: &mut Command) {
    command.process_group(0);
    #[cfg(target_os = "linux")]
    die_with_parent(command);
}

/// Makes the kernel kill the child when the thread that starts it ends.
#[cfg(target_os = "linux")]
pub(crate) fn die_with_parent(command: &mut Command) {
    let parent = rustix::process::getpid();
    let tie = move || {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        // The parent may have died before the signal was requested.
        if rustix::process::getppid() == Some(parent) {
            Ok(())
        } else {
            Err(io::Error::other("the parent ended"))
        }
    };
    #[expect(unsafe_code, reason = "two system calls that are safe between fork and exec")]
    // SAFETY: the closure makes only async-signal-safe system calls, and allocates only if it
    // fails.
    unsafe {
        command.pre_exec(tie);
    }
}

/// Returns whether `process` is `ancestor` or a descendant of it. Descendants are recognized on Linux only.
pub(crate) fn is_below(process: u32, ancestor: u32) -> bool {
    let parents = std::iter::successors(Some(process), |process| parent_of(*process));
    parents.take(DEEPEST).any(|process| process == ancestor)
}

/// How many generations are followed.
const DEEPEST: usize = 64;

#[cfg(target_os = "linux")]
fn parent_of(process: u32) -> Option<u32> {
    #[expect(clippy::disallowed_methods, reason = "IO shell: what the kernel says of a process")]
    let line = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name may contain any character, even a parenthesis.
    let (_name, fields) = line.rsplit_once(')')?;
    fields.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(not(target_os = "linux"))]
const fn parent_of(_process: u32) -> Option<u32> {
    None
}

#[expect(clippy::unnecessary_wraps, reason = "on Windows this can fail")]
pub(super) const fn log_lost_errors(_log: &Path) -> io::Result<()> {
    // Every process has a standard error: who starts one says where it goes.
    Ok(())
}

pub(super) const REPLACES_IMAGES: bool = true;

/// Starts a child in a session of its own, so that the end of the terminal does not end the child.
pub(super) fn spawn_detached(command: &mut Command) -> io::Result<Child> {
    let session = || rustix::process::setsid().map(drop).map_err(io::Error::from);
    #[expect(unsafe_code, reason = "one system call that is safe between fork and exec")]
    // SAFETY: the closure makes one async-signal-safe system call.
    unsafe {
        command.pre_exec(session);
    }
    command.spawn()
}

pub(super) fn replace_image(command: &mut Command) -> io::Error {
    command.exec()
}

pub(super) fn program(name: &str) -> PathBuf {
    name.into()
}

pub(super) fn own_group(command: &mut Command) {
    command.process_group(0);
}

/// The process group of a child, which has the child's process id.
#[derive(Debug)]
pub(super) struct Group(Option<Pid>);

impl Group {
    /// Returns the group of a child that was started with [`tie_to_parent`] or [`own_group`].
    #[expect(clippy::unnecessary_wraps, reason = "other systems can fail")]
    pub(super) fn of(child: &Child) -> io::Result<Self> {
        Ok(Self(pid_of(child.id())))
    }

    pub(super) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    pub(super) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        // The group may already have ended, which is also fine.
        let _gone = self.0.map(|pid| rustix::process::kill_process_group(pid, signal));
    }
}

pub(super) fn terminate_pid(pid: u32) -> bool {
    pid_of(pid).is_some_and(|pid| rustix::process::kill_process(pid, Signal::TERM).is_ok())
}

pub(super) fn kill_self() -> ! {
    let killed = rustix::process::kill_process(rustix::process::getpid(), Signal::KILL);
    debug_assert!(killed.is_ok(), "a process may always kill itself");
    std::process::abort()
}

fn pid_of(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}
