//! Process groups, signals and the parent-death signal.

use std::{
    os::unix::process::CommandExt as _,
    process::{Child, Command},
};

use rustix::process::{Pid, Signal};

pub(super) fn tie_to_parent(command: &mut Command) {
    command.process_group(0);
    #[cfg(target_os = "linux")]
    {
        let parent = rustix::process::getpid();
        let tie = move || {
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            // The parent may have died before the signal was requested.
            if rustix::process::getppid() == Some(parent) {
                Ok(())
            } else {
                Err(std::io::Error::other("the parent ended"))
            }
        };
        #[expect(unsafe_code, reason = "two system calls that are safe between fork and exec")]
        // SAFETY: the closure makes only async-signal-safe system calls, and allocates only if it
        // fails.
        unsafe {
            command.pre_exec(tie);
        }
    }
}

pub(super) fn detach(command: &mut Command) {
    let session = || rustix::process::setsid().map(drop).map_err(std::io::Error::from);
    #[expect(unsafe_code, reason = "one system call that is safe between fork and exec")]
    // SAFETY: the closure makes one async-signal-safe system call.
    unsafe {
        command.pre_exec(session);
    }
}

pub(super) fn replace_image(command: &mut Command) -> std::io::Error {
    command.exec()
}

pub(super) fn own_group(command: &mut Command) {
    command.process_group(0);
}

pub(super) fn kill_group(pid: u32) {
    if let Some(pid) = pid_of(pid) {
        let _gone = rustix::process::kill_process_group(pid, Signal::KILL);
    }
}

pub(super) fn terminate(child: &Child) {
    signal_group(child, Signal::TERM);
}

pub(super) fn kill(child: &mut Child) {
    signal_group(child, Signal::KILL);
}

pub(super) fn terminate_pid(pid: u32) -> bool {
    pid_of(pid).is_some_and(|pid| rustix::process::kill_process(pid, Signal::TERM).is_ok())
}

pub(super) fn exists(pid: u32) -> bool {
    pid_of(pid).is_some_and(|pid| {
        !matches!(rustix::process::test_kill_process(pid), Err(rustix::io::Errno::SRCH))
    })
}

pub(super) fn kill_self() -> ! {
    let killed = rustix::process::kill_process(rustix::process::getpid(), Signal::KILL);
    debug_assert!(killed.is_ok(), "a process may always kill itself");
    std::process::abort()
}

fn signal_group(child: &Child, signal: Signal) {
    if let Some(pid) = pid_of(child.id()) {
        // The group may already have ended, which is also fine.
        let _gone = rustix::process::kill_process_group(pid, signal);
    }
}

fn pid_of(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}
