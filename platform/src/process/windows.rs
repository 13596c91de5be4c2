//! Process control on Windows: a job object for each child and its own children, and a pipe that asks a process to end.

use std::{
    io,
    os::windows::{
        io::{AsRawHandle as _, IntoRawHandle as _},
        process::CommandExt as _,
    },
    path::{Path, PathBuf},
    process::{Child, Command},
};

use windows_sys::Win32::{
    Foundation::{HANDLE_FLAG_INHERIT, INVALID_HANDLE_VALUE, SetHandleInformation},
    System::{
        Console::{STD_ERROR_HANDLE, SetStdHandle},
        Diagnostics::Debug::{SEM_FAILCRITICALERRORS, SEM_NOGPFAULTERRORBOX, SetErrorMode},
    },
};

use crate::stop_request;

#[path = "job.rs"]
mod job;

use job::Job;

/// The creation flag that starts a child without our console.
const DETACHED_PROCESS: u32 = 0x0000_0008;
/// The creation flag that keeps a console signal of this process from the child.
const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;
/// The creation flag that takes a child out of the job of this process, such as that of a terminal's tab.
const CREATE_BREAKAWAY_FROM_JOB: u32 = 0x0100_0000;
/// The creation flag that opens no console window for a console program.
const CREATE_NO_WINDOW: u32 = 0x0800_0000;

pub(super) fn log_lost_errors(log: &Path) -> io::Result<()> {
    let errors = io::stderr().as_raw_handle();
    if !errors.is_null() && errors != INVALID_HANDLE_VALUE {
        return Ok(());
    }
    let file = super::open_log(log)?.into_raw_handle();
    #[expect(unsafe_code, reason = "a system call with a handle of ours")]
    // SAFETY: the handle is that of the file, and stays open until this process ends.
    let is_set = unsafe { SetStdHandle(STD_ERROR_HANDLE, file) };
    if is_set == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// A running program cannot be replaced: the guard starts its successor.
pub(super) const REPLACES_IMAGES: bool = false;

/// Also has the system report a missing library or a crash of the child by its exit code. Otherwise a dialog waits for
/// somebody to close it, in a session that perhaps nobody sees. Children inherit this mode.
pub(super) fn tie_to_parent(command: &mut Command) {
    #[expect(unsafe_code, reason = "a system call without memory of ours")]
    // SAFETY: the call takes a number and changes a setting of this process.
    let _before = unsafe { SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX) };
    own_group(command);
}

/// Starts a child that survives the console. The job of a terminal may forbid to leave it. The child then ends with the
/// terminal.
pub(super) fn spawn_detached(command: &mut Command) -> io::Result<Child> {
    keep_standard_handles();
    let flags = DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP;
    let alone = command.creation_flags(flags | CREATE_BREAKAWAY_FROM_JOB).spawn();
    alone.or_else(|_not_allowed| command.creation_flags(flags).spawn())
}

pub(super) fn replace_image(_command: &mut Command) -> io::Error {
    io::ErrorKind::Unsupported.into()
}

/// Keeps the standard input, output and error of this process from its children. A child inherits every handle that can be
/// inherited, whatever its own standard handles are: whoever read our output by a pipe would wait for the end of the child, and
/// an engine would hold the line to the guard. `Stdio::inherit` passes a copy that can be inherited.
fn keep_standard_handles() {
    let (input, output, error) = (io::stdin(), io::stdout(), io::stderr());
    for handle in [input.as_raw_handle(), output.as_raw_handle(), error.as_raw_handle()] {
        #[expect(unsafe_code, reason = "a system call with a handle of ours")]
        // SAFETY: the handle is one of this process, or null, which the call refuses.
        let _kept = unsafe { SetHandleInformation(handle, HANDLE_FLAG_INHERIT, 0) };
    }
}

pub(super) fn program(name: &str) -> PathBuf {
    #[expect(clippy::disallowed_methods, reason = "IO shell: the folder of the system")]
    let folder = std::env::var_os("SystemRoot").unwrap_or_else(|| r"C:\Windows".into());
    PathBuf::from(folder).join("System32").join(name).with_extension("exe")
}

pub(super) fn own_group(command: &mut Command) {
    keep_standard_handles();
    command.creation_flags(CREATE_NEW_PROCESS_GROUP | CREATE_NO_WINDOW);
}

/// A child and the processes that it starts. The system kills them when the last handle of the job is closed, and so
/// also when this process ends.
///
/// A process that the child starts in the instant before it is put into the job is not in the group.
#[derive(Debug)]
pub(super) struct Group {
    job: Job,
    pid: u32,
}

impl Group {
    pub(super) fn of(child: &Child) -> io::Result<Self> {
        let job = Job::that_ends_with_its_handle()?;
        job.take(child)?;
        Ok(Self { job, pid: child.id() })
    }

    /// Programs of Link can be asked to end. An engine has nothing to save, so it is killed.
    pub(super) fn terminate(&self) {
        if !stop_request::send(self.pid) {
            self.kill();
        }
    }

    pub(super) fn kill(&self) {
        self.job.terminate();
    }
}

pub(super) fn terminate_pid(pid: u32) -> bool {
    stop_request::send(pid)
}

pub(super) fn kill_self() -> ! {
    std::process::abort()
}
