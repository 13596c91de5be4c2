//! Process 1 of a namespace: passes signals on, and collects whoever has ended.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "IO shell: processes and signals"
)]

use std::{
    io,
    os::unix::process::CommandExt as _,
    process::{Command, ExitCode},
};

use futures_util::{FutureExt as _, future::select_all};
use rustix::{
    io::Errno,
    process::{Pid, Signal, WaitOptions, WaitStatus},
};
use tokio::signal::unix::{self, SignalKind};

/// The signals that ask a program to do something. Others are for the process that gets them.
const PASSED_ON: [(SignalKind, Signal); 6] = [
    (SignalKind::hangup(), Signal::HUP),
    (SignalKind::interrupt(), Signal::INT),
    (SignalKind::quit(), Signal::QUIT),
    (SignalKind::terminate(), Signal::TERM),
    (SignalKind::user_defined1(), Signal::USR1),
    (SignalKind::user_defined2(), Signal::USR2),
];

pub(super) fn run_below() -> Option<ExitCode> {
    if std::process::id() != 1 {
        return None;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let ended = runtime.and_then(|runtime| runtime.block_on(run()));
    Some(ended.unwrap_or_else(|error| {
        eprintln!("the program cannot run below process 1: {error}");
        ExitCode::FAILURE
    }))
}

async fn run() -> io::Result<ExitCode> {
    // Listen first: a signal before that is lost, or ends nothing, because process 1 ignores it.
    let mut asked = Vec::with_capacity(PASSED_ON.len());
    for (kind, signal) in PASSED_ON {
        asked.push((unix::signal(kind)?, signal));
    }
    let mut ended = unix::signal(SignalKind::child())?;
    let mut arguments = std::env::args_os();
    let mut command = Command::new(std::env::current_exe()?);
    command.arg0(arguments.next().unwrap_or_default()).args(arguments);
    // In a group of its own, so that it gets the signals of a terminal once.
    let child = command.process_group(0).spawn()?;
    let main = Pid::from_child(&child);
    loop {
        let signals = asked
            .iter_mut()
            .map(|(signal, number)| signal.recv().map(|_received| *number).boxed_local());
        tokio::select! {
            (signal, ..) = select_all(signals) => {
                // It may have ended, which is noticed next.
                let _sent = rustix::process::kill_process(main, signal);
            }
            _child = ended.recv() => if let Some(status) = collect(main) {
                return Ok(exit_code(status));
            },
        }
    }
}

/// Collects whoever has ended. Returns the end of `main`, if it is among them.
fn collect(main: Pid) -> Option<WaitStatus> {
    let mut found = None;
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) if pid == main => found = Some(status),
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) | Err(_) => return found,
        }
    }
}

fn exit_code(status: WaitStatus) -> ExitCode {
    let code = match status.exit_status() {
        Some(code) => code,
        None => status.terminating_signal().map_or(1, |signal| 128 + signal),
    };
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}
