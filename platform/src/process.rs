//! Child processes that do not outlive their parent, and detached ones that do.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "IO shell: processes, and the logs they append to"
)]

use std::{
    ffi::OsString,
    fs::File,
    io,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

#[cfg(unix)]
#[path = "process/unix.rs"]
mod system;
#[cfg(windows)]
#[path = "process/windows.rs"]
mod system;

mod call;

use crate::notify;
pub use call::{Answer, Call, call, of_the_system};
#[cfg(target_os = "linux")]
pub(crate) use system::die_with_parent;
#[cfg(unix)]
pub(crate) use system::is_below;

/// A program to run.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Program {
    pub path: PathBuf,
    pub args: Vec<OsString>,
    pub env: Vec<(OsString, OsString)>,
    /// The file for the output. None to discard the output.
    pub log: Option<PathBuf>,
}

/// A child in its own process group. On Linux the system kills the child when the *thread* that started it ends, and so
/// also when this process ends. So one long-lived thread must start all children. On Windows the system kills the group
/// when this process ends. On other systems the child ends when this value is dropped.
#[derive(Debug)]
pub struct TiedChild {
    child: Child,
    group: system::Group,
}

impl TiedChild {
    /// Starts `program`.
    ///
    /// # Errors
    /// If the program does not exist or may not be run.
    pub fn start(program: &Program) -> io::Result<Self> {
        Self::start_reading(program, Stdio::null())
    }

    /// Starts `program` with `input` as its standard input.
    pub(crate) fn start_reading(program: &Program, input: Stdio) -> io::Result<Self> {
        let mut command = command(program)?;
        command.stdin(input);
        system::tie_to_parent(&mut command);
        Self::start_command(&mut command)
    }

    /// Starts a program that ends on its own when the other end of `line`, its standard input, is closed.
    #[cfg(target_os = "linux")]
    pub(crate) fn start_on_line(program: &Program, line: Stdio) -> io::Result<Self> {
        let mut command = command(program)?;
        command.stdin(line);
        system::own_group(&mut command);
        Self::start_command(&mut command)
    }

    fn start_command(command: &mut Command) -> io::Result<Self> {
        let mut child = command.spawn()?;
        match system::Group::of(&child) {
            Ok(group) => Ok(Self { child, group }),
            Err(error) => {
                // A child that nothing ties to this process must not run.
                let _gone = child.kill();
                Err(error)
            }
        }
    }

    /// Returns the process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the exit status of the child. None while it runs.
    ///
    /// # Errors
    /// If the system call fails.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// Asks the processes in the child's group to end. On Windows, kills a child that cannot be asked.
    pub fn terminate(&self) {
        self.group.terminate();
    }

    /// Kills the processes in the child's group. [`Self::try_wait`] returns when the child has ended.
    pub fn kill(&mut self) {
        self.group.kill();
    }
}

impl Drop for TiedChild {
    /// Kills the child and waits briefly for its end, so that no zombie is left. If the child hangs in a system call,
    /// the system reaps it later.
    fn drop(&mut self) {
        self.kill();
        let deadline = Instant::now() + LAST_MOMENT;
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// How long to wait for the end of a killed child.
const LAST_MOMENT: Duration = Duration::from_secs(2);

/// A child that continues to run after this process and its terminal have ended.
#[derive(Debug)]
pub struct DetachedChild {
    child: Child,
}

impl DetachedChild {
    /// Starts `program`.
    ///
    /// # Errors
    /// If the program does not exist or may not be run.
    pub fn start(program: &Program) -> io::Result<Self> {
        let mut command = command(program)?;
        system::spawn_detached(&mut command).map(|child| Self { child })
    }

    /// Returns the process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Collects the exit status of the child if it has ended. Returns whether it has.
    pub fn reap(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }
}

/// Starts `program` so that it continues to run after this process and its terminal have ended.
///
/// # Errors
/// If the program does not exist or may not be run.
pub fn spawn_detached(program: &Program) -> io::Result<u32> {
    DetachedChild::start(program).map(|child| child.id())
}

/// Appends the standard error of this process to `log` if it has none. The task scheduler of Windows starts programs without.
///
/// # Errors
/// If the file cannot be opened.
pub fn log_lost_errors(log: &Path) -> io::Result<()> {
    system::log_lost_errors(log)
}

/// Whether this system can replace the image of a process.
pub const REPLACES_IMAGES: bool = system::REPLACES_IMAGES;

/// Replaces the image of this process with `program`. The process id and standard input, output and error stay the
/// same. Returns only on failure, which is certain unless [`REPLACES_IMAGES`].
#[must_use]
pub fn replace_image(program: &Path, args: &[OsString]) -> io::Error {
    system::replace_image(Command::new(program).args(args))
}

/// Asks the process `pid` to end. Returns false if there is no such process.
#[must_use]
pub fn terminate(pid: u32) -> bool {
    system::terminate_pid(pid)
}

/// Kills this process at once, without any cleanup.
pub fn kill_self() -> ! {
    system::kill_self()
}

fn command(program: &Program) -> io::Result<Command> {
    let mut command = Command::new(&program.path);
    command.args(&program.args).envs(program.env.iter().cloned()).stdin(Stdio::null());
    for variable in notify::VARIABLES {
        command.env_remove(variable);
    }
    match &program.log {
        Some(path) => {
            let log = open_log(path)?;
            command.stdout(log.try_clone()?).stderr(log);
        }
        None => {
            command.stdout(Stdio::null()).stderr(Stdio::null());
        }
    }
    Ok(command)
}

fn open_log(path: &Path) -> io::Result<File> {
    File::options().create(true).append(true).open(path)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn killing_a_child_takes_its_children_with_it() {
        let dir = tempfile::tempdir().unwrap();
        let pid_file = dir.path().join("pid");
        let script = format!("sleep 60 & echo $! > {}; wait", pid_file.display());
        let program = Program {
            path: "/bin/sh".into(),
            args: vec!["-c".into(), script.into()],
            env: vec![],
            log: None,
        };
        let mut child = TiedChild::start(&program).unwrap();
        let grandchild: u32 = loop {
            let text = std::fs::read_to_string(&pid_file).unwrap_or_default();
            if let Ok(pid) = text.trim().parse() {
                break pid;
            }
            std::thread::yield_now();
        };
        child.kill();
        // The grandchild has got another parent. It is gone, or a zombie until that parent reaps it.
        let stat = format!("/proc/{grandchild}/stat");
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
        while std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z")) {
            assert!(std::time::Instant::now() < deadline, "the grandchild lives on");
            std::thread::yield_now();
        }
    }
}
