//! Runs programs of other people. None of their processes outlives them, what they print is bounded, and the rights that
//! they do not need are taken away where the system can do that.
//!
//! On Linux a supervisor process stands between this process and each program: the program of this process again, with
//! `contain` as its first argument ([`take_over`]). The supervisor adopts every process whose parent has ended, so none
//! can get away from it. It kills all of them when the program has ended, when it is told to, and when this process has
//! ended, also by SIGKILL. Elsewhere the program is a [`crate::process::TiedChild`].

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::atomic::{AtomicBool, Ordering},
};

#[cfg(target_os = "linux")]
#[path = "contain/linux.rs"]
mod system;
#[cfg(not(target_os = "linux"))]
#[path = "contain/other.rs"]
mod system;

mod rules;

pub use rules::{Access, Files, Rules};

use crate::process::Program;

/// A contained program and all processes that it has started.
#[derive(Debug)]
pub struct Contained(system::Contained);

/// The state of a contained program.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Look {
    Runs,
    Ended(End),
}

/// How a contained program ended. None of its processes is left.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct End {
    /// The exit status, such as `exit status: 1`.
    pub how: String,
    /// Why the program was ended or not started at all, if the containment did it.
    pub reason: Option<String>,
}

/// Returns a line of the log of a contained program without the time that its supervisor wrote before it.
#[must_use]
pub fn without_time(line: &str) -> &str {
    let split = line.split_once(' ').filter(|(time, _)| time.parse::<jiff::Timestamp>().is_ok());
    split.map_or(line, |(_, text)| text)
}

impl Contained {
    /// Starts `program`. `supervisor` is a program of Link whose `main` calls [`take_over`]; without one, the program
    /// runs without a supervisor.
    ///
    /// # Errors
    /// If the program or the supervisor cannot be started.
    pub fn start(supervisor: Option<&Path>, program: &Program, rules: &Rules) -> io::Result<Self> {
        system::Contained::start(supervisor, program, rules).map(Self)
    }

    /// Returns the process id of the program. None until it has been started.
    #[must_use]
    pub fn id(&self) -> Option<u32> {
        self.0.id()
    }

    /// Returns how the program does. Call this often: the id is known only after a look.
    ///
    /// # Errors
    /// If the system call fails.
    pub fn look(&mut self) -> io::Result<Look> {
        self.0.look()
    }

    /// Asks the program to end.
    pub fn terminate(&mut self) {
        self.0.terminate();
    }

    /// Kills all processes of the program. [`Self::look`] says when none is left.
    pub fn kill(&mut self) {
        self.0.kill();
    }
}

/// What this system does for contained programs.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Support {
    /// Every process ends with its program, and the number of processes, the memory and the output are bounded.
    pub supervised: bool,
    /// Files other than those of the rules are refused.
    pub files: bool,
    /// Connections are refused.
    pub connections: bool,
    /// Ports other than that of the rules are refused.
    pub ports: bool,
    /// Signals to other programs are refused.
    pub signals: bool,
}

/// Returns what this system does for contained programs.
#[must_use]
pub fn support() -> Support {
    system::support()
}

/// Whether the program of this process can be a supervisor: its `main` has called [`take_over`].
static CAN_SUPERVISE: AtomicBool = AtomicBool::new(false);

/// Returns the path of the program of this process, where it can be a supervisor.
#[must_use]
pub fn supervisor() -> Option<PathBuf> {
    CAN_SUPERVISE.load(Ordering::Relaxed).then(system::supervisor).flatten()
}

/// Makes this process a supervisor if its arguments say so, and returns its exit code after the end. Call this in the
/// first lines of `main`: a supervisor must have one thread.
#[must_use]
pub fn take_over() -> Option<ExitCode> {
    CAN_SUPERVISE.store(true, Ordering::Relaxed);
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != rules::COMMAND {
        return None;
    }
    let arguments: Vec<OsString> = arguments.collect();
    Some(match Rules::parse(arguments) {
        Some((rules, program)) => system::supervise(&rules, &program),
        None => ExitCode::from(USAGE),
    })
}

/// The exit code of a supervisor with unusable arguments.
const USAGE: u8 = 2;
