//! Runs another program to its end, within a time limit, and returns its output.

#![expect(clippy::disallowed_methods, reason = "IO shell: processes")]

use std::{
    ffi::OsString,
    io,
    path::PathBuf,
    process::{Command, Stdio},
    sync::mpsc,
    time::Duration,
};

use super::system;

/// A program to run.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Call {
    /// A path, or a name to look up on PATH.
    pub program: PathBuf,
    pub args: Vec<OsString>,
    /// The whole environment. None to inherit the environment of this process.
    pub env: Option<Vec<(OsString, OsString)>>,
    pub limit: Duration,
}

/// Returns the path of `name`, a program of the operating system. Where the system looks for a program beside the caller
/// first, the path names the folder of the system.
#[must_use]
pub fn of_the_system(name: &str) -> PathBuf {
    system::program(name)
}

/// How the program ended, and its output.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Answer {
    pub success: bool,
    /// The exit code. None if a signal ended the program.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// Runs a program to its end.
///
/// # Errors
/// If the program cannot be started, or runs longer than the time limit. In the latter case it is killed with its
/// children.
pub fn call(call: &Call) -> io::Result<Answer> {
    let mut command = Command::new(&call.program);
    command.args(&call.args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(env) = &call.env {
        command.env_clear().envs(env.iter().cloned());
    }
    system::own_group(&mut command);
    let child = command.spawn()?;
    let group = system::Group::of(&child)?;
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    let Ok(ended) = receiver.recv_timeout(call.limit) else {
        group.kill();
        return Err(io::ErrorKind::TimedOut.into());
    };
    let ended = ended?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    Ok(Answer {
        success: ended.status.success(),
        code: ended.status.code(),
        stdout: text(&ended.stdout),
        stderr: text(&ended.stderr),
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_does_not_end_is_killed_at_the_limit() {
        let ask = |script: &str, limit| {
            let args = vec!["-c".into(), script.into()];
            call(&Call { program: "sh".into(), args, env: None, limit })
        };
        let answer = ask("echo yes; echo no >&2; exit 3", Duration::from_secs(60)).unwrap();
        assert_eq!((answer.success, &*answer.stdout, &*answer.stderr), (false, "yes", "no"));
        let error = ask("sleep 60 & wait", Duration::from_millis(50)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
