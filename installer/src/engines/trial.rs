//! Runs a new build once, to see whether it runs here and which build it is. A build is a stranger's program, so it runs
//! below a supervisor and with less of the machine, as an engine that serves (decisions 0087 and 0088).

#![expect(clippy::disallowed_methods, reason = "IO shell: the clock and a folder")]

use std::{
    io,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use link_platform::{
    contain::{self, Access, Contained, End, Files, Look, Rules},
    fs,
    process::Program,
};

use super::{EngineError, failed};

/// How long a build may take to print its version.
const PATIENCE: Duration = Duration::from_secs(60);
/// The interval between two looks at a running build.
const TICK: Duration = Duration::from_millis(10);
/// The memory that a build may take to print its version, in bytes.
const MEMORY: u64 = 4 << 30;
/// The end of the output that is read, in bytes.
const OUTPUT: u64 = 64 * 1024;
/// The number of the error of a file that is no program for this machine.
const NO_PROGRAM: i32 = 8;

/// Runs `executable` with `--version`, and returns its output. What the build writes is in a folder `within`, since a container may have no
/// `/tmp`.
///
/// # Errors
/// [`EngineError::DoesNotRun`] if the build is at fault, and [`EngineError::Io`] for what may pass.
pub(super) fn run(executable: &Path, within: &Path) -> Result<String, EngineError> {
    let folder =
        tempfile::tempdir_in(within).map_err(|source| failed("run", executable, source))?;
    let (work, log) = (folder.path().join("work"), folder.path().join("log"));
    std::fs::create_dir(&work).map_err(|source| failed("create", &work, source))?;
    let program = Program {
        path: executable.to_owned(),
        args: vec!["--version".into()],
        env: vec![("TMPDIR".into(), work.clone().into())],
        log: Some(log.clone()),
    };
    let read = executable.parent().map(Path::to_owned).into_iter().collect();
    let access = Access::only(Files { read, write: vec![work] });
    let rules = Rules { memory: Some(MEMORY), access, ..Rules::default() };
    let supervisor = contain::supervisor();
    let end = Contained::start(supervisor.as_deref(), &program, &rules).and_then(ended).map_err(
        |source| match is_at_fault(&source) {
            true => EngineError::DoesNotRun(source.to_string()),
            false => failed("run", executable, source),
        },
    )?;
    let output = fs::read_end(&log, OUTPUT).unwrap_or_default();
    let output: Vec<_> = output.lines().map(contain::without_time).collect();
    let how = match end {
        End { reason: Some(reason), .. } => reason,
        End { how, reason: None } => {
            match how.rsplit_once(": ").filter(|(kind, _)| kind.starts_with("exit")) {
                Some((_, "0")) => return Ok(output.join("\n")),
                Some((_, code)) => format!("it ended with {code}"),
                None => "a signal ended it".to_owned(),
            }
        }
    };
    let last = output.iter().rfind(|line| !line.trim().is_empty());
    let last = last.map(|line| format!(": {line}")).unwrap_or_default();
    Err(EngineError::DoesNotRun(format!("{how}{last}")))
}

/// Waits for the end of a build. None of its processes is left then, also if it takes too long.
fn ended(mut contained: Contained) -> io::Result<End> {
    let began = Instant::now();
    loop {
        if let Look::Ended(end) = contained.look()? {
            return Ok(end);
        }
        if began.elapsed() > PATIENCE {
            return Err(io::ErrorKind::TimedOut.into());
        }
        thread::sleep(TICK);
    }
}

/// Returns whether the build cannot be started on this machine, now or later.
fn is_at_fault(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied)
        || error.raw_os_error() == Some(NO_PROGRAM)
}
