//! The two ends of the line between a supervisor and the process that started it.
//!
//! The supervisor says `started PID`, and at the end `ended STATUS` or `refused`, with a reason. It reads [`TERMINATE`].
//! The end of the line tells it to kill everything.

#![expect(clippy::disallowed_methods, reason = "IO shell: processes and the clock")]

use std::{
    io::{self, Read as _, Write as _},
    os::{
        fd::OwnedFd,
        unix::{net::UnixStream, process::ExitStatusExt as _},
    },
    path::{Path, PathBuf},
    process::{ExitCode, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use super::{End, Look, Rules, Support};
use crate::process::{Program, TiedChild};

#[path = "access.rs"]
mod access;
#[path = "calls.rs"]
mod calls;
#[path = "cap.rs"]
mod cap;
#[path = "footprint.rs"]
mod footprint;
#[path = "limits.rs"]
mod limits;
#[path = "log_file.rs"]
mod log_file;
#[path = "runtime.rs"]
mod runtime;
#[path = "stamp.rs"]
mod stamp;
#[path = "supervisor.rs"]
mod supervise;
#[path = "tree.rs"]
mod tree;

/// What a supervisor is sent, to ask the program to end.
const TERMINATE: &[u8] = b"t";
/// How much a supervisor may say, in bytes.
const SAID_LIMIT: usize = 4096;
/// How long a supervisor may take to kill everything before it is killed itself.
const PATIENCE: Duration = Duration::from_secs(8);

#[derive(Debug)]
pub(super) struct Contained {
    child: TiedChild,
    /// None for a program without a supervisor, and for one that must end.
    line: Option<UnixStream>,
    supervised: bool,
    said: Vec<u8>,
    pid: Option<u32>,
    end: Option<End>,
    kill_at: Option<Instant>,
}

impl Contained {
    pub(super) fn start(
        supervisor: Option<&Path>,
        program: &Program,
        rules: &Rules,
    ) -> io::Result<Self> {
        let (child, line) = match supervisor {
            None => (TiedChild::start(program)?, None),
            Some(supervisor) => {
                let (ours, theirs) = UnixStream::pair()?;
                ours.set_nonblocking(true)?;
                let supervisor = Program {
                    path: supervisor.to_owned(),
                    args: rules.words(program),
                    env: program.env.clone(),
                    log: None,
                };
                let theirs = Stdio::from(OwnedFd::from(theirs));
                (TiedChild::start_on_line(&supervisor, theirs)?, Some(ours))
            }
        };
        let pid = line.is_none().then(|| child.id());
        let (said, end, kill_at) = (Vec::new(), None, None);
        Ok(Self { child, supervised: line.is_some(), line, said, pid, end, kill_at })
    }

    pub(super) fn id(&self) -> Option<u32> {
        self.pid
    }

    pub(super) fn look(&mut self) -> io::Result<Look> {
        let status = self.child.try_wait()?;
        self.hear();
        if self.kill_at.is_some_and(|at| at <= Instant::now()) {
            self.child.kill();
        }
        Ok(match status {
            None => Look::Runs,
            // The words of the supervisor come before its end.
            Some(status) => Look::Ended(match self.end.clone() {
                Some(end) => end,
                None if self.supervised => {
                    let reason = format!("its supervisor ended ({status})");
                    End { how: status.to_string(), reason: Some(reason) }
                }
                None => End { how: status.to_string(), reason: None },
            }),
        })
    }

    pub(super) fn terminate(&mut self) {
        match &mut self.line {
            // A supervisor that does not read is killed later.
            Some(line) => drop(line.write(TERMINATE)),
            None if self.supervised => {}
            None => self.child.terminate(),
        }
    }

    pub(super) fn kill(&mut self) {
        if !self.supervised {
            self.child.kill();
        } else if self.kill_at.is_none() {
            self.kill_at = Some(Instant::now() + PATIENCE);
            if let Some(line) = &self.line {
                // The supervisor still says how the program ended.
                let _ended = line.shutdown(std::net::Shutdown::Write);
            }
        }
    }

    /// Reads what the supervisor has said.
    fn hear(&mut self) {
        let Some(line) = &mut self.line else { return };
        let mut buffer = [0; 1024];
        while self.said.len() < SAID_LIMIT {
            match line.read(&mut buffer) {
                Ok(0) | Err(_) => break,
                Ok(read) => self.said.extend_from_slice(&buffer[..read]),
            }
        }
        while let Some(end) = self.said.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.said.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line);
            match Said::parse(line.trim_end()) {
                Some(Said::Started(pid)) => self.pid = Some(pid),
                Some(Said::Ended(end)) => self.end = Some(end),
                None => {}
            }
        }
    }
}

impl Drop for Contained {
    /// Kills all processes, and waits until none is left or the supervisor had enough time.
    fn drop(&mut self) {
        if !self.supervised {
            return;
        }
        self.kill();
        let deadline = Instant::now() + PATIENCE;
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// What a supervisor says.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Said {
    Started(u32),
    Ended(End),
}

impl Said {
    fn parse(line: &str) -> Option<Self> {
        let (word, rest) = line.split_once(' ')?;
        match word {
            "started" => rest.parse().ok().map(Self::Started),
            "ended" => {
                let (status, reason) = rest.split_once(' ').unwrap_or((rest, ""));
                let how = ExitStatus::from_raw(status.parse().ok()?).to_string();
                let reason = Some(reason.to_owned()).filter(|reason| !reason.is_empty());
                Some(Self::Ended(End { how, reason }))
            }
            "refused" => {
                let end = End { how: "not started".to_owned(), reason: Some(rest.to_owned()) };
                Some(Self::Ended(end))
            }
            _ => None,
        }
    }
}

pub(super) fn supervisor() -> Option<PathBuf> {
    // The file of this process, also after another version has taken its name.
    tree::can_adopt().then(|| "/proc/self/exe".into())
}

pub(super) fn support() -> Support {
    if !tree::can_adopt() {
        return Support::default();
    }
    let landlock = access::landlock();
    Support {
        supervised: true,
        files: landlock >= access::FILES,
        connections: calls::are_filtered(),
        ports: landlock >= access::PORTS,
        signals: landlock >= access::SIGNALS,
    }
}

pub(super) fn supervise(rules: &Rules, program: &Program) -> ExitCode {
    supervise::run(rules, program)
}
