//! The supervisor of one contained program: it starts the program, passes its output on within bounds, and leaves no
//! process of it behind.
//!
//! It has one thread, and ends when no process is left below it.

#![expect(clippy::disallowed_methods, reason = "IO shell: processes and the clock")]

use std::{
    io,
    os::{
        fd::{AsFd as _, OwnedFd},
        unix::{net::UnixStream as StdStream, process::ExitStatusExt as _},
    },
    process::{Command, ExitCode, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use jiff::Timestamp;
use rustix::process::{Pid, Signal};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{UnixStream, unix::pipe},
    signal::unix::{SignalKind, signal},
    time::MissedTickBehavior,
};

use super::{cap::Cap, footprint, limits, log_file::LogFile, stamp::Stamp, tree::Tree};
use crate::{
    contain::rules::Rules,
    process::{self, Program},
};

/// How often the processes are looked at.
const LOOK: Duration = Duration::from_millis(250);
/// How long to try to kill everything. A process in a system call of a broken driver cannot be killed.
const LAST_MOMENT: Duration = Duration::from_secs(5);
/// How much output is read at once, in bytes.
const PIECE: usize = 64 * 1024;

/// Runs `program` until none of its processes is left.
pub(super) fn run(rules: &Rules, program: &Program) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let ended = runtime.and_then(|runtime| runtime.block_on(supervise(rules, program)));
    ended.unwrap_or(ExitCode::FAILURE)
}

async fn supervise(rules: &Rules, program: &Program) -> io::Result<ExitCode> {
    let mut line = parent()?;
    let started = Supervisor::start(rules, program);
    let mut supervisor = match started {
        Ok(supervisor) => supervisor,
        Err(error) => {
            say(&mut line, &format!("refused {error}")).await;
            return Ok(ExitCode::FAILURE);
        }
    };
    say(&mut line, &format!("started {}", supervisor.main)).await;
    let reason = supervisor.watch(&mut line).await?;
    let status = supervisor.end();
    let reason = reason.map(|reason| format!(" {reason}")).unwrap_or_default();
    say(&mut line, &format!("ended {status}{reason}")).await;
    let code = ExitStatus::from_raw(status).code().unwrap_or(1);
    Ok(ExitCode::from(u8::try_from(code).unwrap_or(1)))
}

/// Returns the line to the process that started this one.
fn parent() -> io::Result<UnixStream> {
    let line = StdStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    line.set_nonblocking(true)?;
    UnixStream::from_std(line)
}

/// Says `text` to the parent, which may have ended.
async fn say(line: &mut UnixStream, text: &str) {
    let text = text.replace('\n', " ");
    let _nobody_reads = line.write_all(format!("{text}\n").as_bytes()).await;
}

struct Supervisor<'a> {
    rules: &'a Rules,
    tree: Tree,
    main: Pid,
    /// The raw status of the program, once it has ended.
    status: Option<i32>,
    output: pipe::Receiver,
    stamp: Stamp,
    cap: Cap,
    log: Option<LogFile>,
    began: Instant,
}

impl<'a> Supervisor<'a> {
    fn start(rules: &'a Rules, program: &Program) -> io::Result<Self> {
        let tree = Tree::adopt()?;
        let log = program.log.as_deref().map(LogFile::open).transpose()?;
        let (output, input) = io::pipe()?;
        let mut command = Command::new(&program.path);
        command.args(&program.args).stdin(Stdio::null());
        command.stdout(input.try_clone()?).stderr(input);
        process::die_with_parent(&mut command);
        limits::impose(&mut command, &rules.access)?;
        // The tree collects the status of every child.
        let child = command.spawn()?;
        // The command holds the input of the pipe, which must end with the program.
        drop(command);
        let main = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let main = main.ok_or_else(|| io::Error::other("the process id is out of range"))?;
        let output = pipe::Receiver::from_owned_fd(OwnedFd::from(output))?;
        let (stamp, cap, began) = (Stamp::new(), Cap::new(), Instant::now());
        Ok(Self { rules, tree, main, status: None, output, stamp, cap, log, began })
    }

    /// Passes output on until the program has ended, or must end. Returns why it must, unless the parent wants it.
    async fn watch(&mut self, line: &mut UnixStream) -> io::Result<Option<String>> {
        let mut children = signal(SignalKind::child())?;
        let mut asked = signal(SignalKind::terminate())?;
        let mut interrupted = signal(SignalKind::interrupt())?;
        let mut hung_up = signal(SignalKind::hangup())?;
        let mut look = tokio::time::interval(LOOK);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut piece, mut order) = (vec![0; PIECE], [0; 8]);
        let mut open = true;
        loop {
            // The program may have ended before the first signal could arrive.
            self.status = self.status.or(Tree::reap(self.main));
            if self.status.is_some() {
                return Ok(None);
            }
            tokio::select! {
                _ = children.recv() => {}
                _ = asked.recv() => self.terminate(),
                _ = interrupted.recv() => self.terminate(),
                _ = hung_up.recv() => self.terminate(),
                read = line.read(&mut order) => match read {
                    Ok(0) | Err(_) => return Ok(None),
                    Ok(_) => self.terminate(),
                },
                read = self.output.read(&mut piece), if open => match read {
                    Ok(0) | Err(_) => open = false,
                    Ok(read) => self.write(&piece[..read]),
                },
                _ = look.tick() => if let Some(reason) = self.excess() {
                    return Ok(Some(reason));
                },
            }
        }
    }

    fn terminate(&self) {
        let _gone = rustix::process::kill_process_group(self.main, Signal::TERM);
    }

    /// Returns how the program breaks its rules.
    fn excess(&self) -> Option<String> {
        let most = self.rules.processes;
        let members = self.tree.members(most as usize + 1);
        if members.len() > most as usize {
            return Some(format!("it had more than {most} processes at once"));
        }
        let limit = self.rules.memory?;
        let used = footprint::above(limit, &members)?;
        let (used, limit) = (used >> 20, limit >> 20);
        Some(format!("it used {used} MiB of memory, and {limit} MiB are allowed"))
    }

    fn write(&mut self, bytes: &[u8]) {
        // The times count as printed, or a flood of short lines would get past the bound.
        let bytes = self.stamp.pass(bytes, Timestamp::now());
        let bytes = self.cap.pass(&bytes, self.began.elapsed());
        if let Some(log) = self.log.as_mut().filter(|_| !bytes.is_empty()) {
            log.append(&bytes);
        }
    }

    /// Kills what is left, and returns the raw status of the program.
    fn end(&mut self) -> i32 {
        let (status, _all) = self.tree.kill(self.main, Instant::now() + LAST_MOMENT);
        for piece in rest(&self.output) {
            self.write(&piece);
        }
        let rest = self.cap.finish();
        if let Some(log) = &mut self.log {
            log.append(&rest);
        }
        self.status.or(status).unwrap_or(KILLED)
    }
}

/// Returns what is left in the pipe, which nobody writes to any more.
///
/// It asks the pipe itself: what was written since the runtime last waited is unknown to the runtime, and those are the last
/// words of a program that has just ended.
fn rest(output: &pipe::Receiver) -> Vec<Vec<u8>> {
    let mut pieces = Vec::new();
    // A pipe holds 1 MiB at most.
    for _ in 0..(1 << 20) / PIECE {
        let mut piece = vec![0; PIECE];
        match rustix::io::retry_on_intr(|| rustix::io::read(output, &mut piece)) {
            Ok(0) | Err(_) => break,
            Ok(read) => piece.truncate(read),
        }
        pieces.push(piece);
    }
    pieces
}

/// The raw status of a program that was killed.
const KILLED: i32 = Signal::KILL.as_raw();

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[tokio::test]
    async fn the_last_words_are_read_before_the_runtime_knows_of_them() {
        let (output, mut input) = io::pipe().unwrap();
        let output = pipe::Receiver::from_owned_fd(OwnedFd::from(output)).unwrap();
        let words = vec![b'w'; PIECE - 1];
        input.write_all(&words).unwrap();
        assert_eq!(rest(&output), [words]);
        drop(input);
        assert!(rest(&output).is_empty());
    }
}
