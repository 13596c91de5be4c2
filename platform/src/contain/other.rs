//! Programs without a supervisor: a job object or a process group holds them together, and their log is cut by its size.

#![expect(clippy::disallowed_methods, reason = "IO shell: the clock")]

use std::{
    io,
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, Instant},
};

use super::{End, Look, Rules, Support};
use crate::{
    fs,
    process::{Program, TiedChild},
};

/// The size above which a log is truncated, in bytes.
const LOG_LIMIT: u64 = 8 * 1024 * 1024;
/// The interval between two checks of the size.
const LOG_INTERVAL: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(super) struct Contained {
    child: TiedChild,
    log: Option<PathBuf>,
    checked: Instant,
}

impl Contained {
    pub(super) fn start(
        _supervisor: Option<&Path>,
        program: &Program,
        _rules: &Rules,
    ) -> io::Result<Self> {
        let child = TiedChild::start(program)?;
        Ok(Self { child, log: program.log.clone(), checked: Instant::now() })
    }

    #[expect(clippy::unnecessary_wraps, reason = "known later on other systems")]
    pub(super) fn id(&self) -> Option<u32> {
        Some(self.child.id())
    }

    pub(super) fn look(&mut self) -> io::Result<Look> {
        if let Some(log) = self.log.as_deref().filter(|_| self.checked.elapsed() >= LOG_INTERVAL) {
            self.checked = Instant::now();
            if let Err(error) = fs::truncate_above(log, LOG_LIMIT) {
                tracing::warn!("{error}");
            }
        }
        Ok(match self.child.try_wait()? {
            None => Look::Runs,
            Some(status) => Look::Ended(End { how: status.to_string(), reason: None }),
        })
    }

    pub(super) fn terminate(&mut self) {
        self.child.terminate();
    }

    pub(super) fn kill(&mut self) {
        self.child.kill();
    }
}

pub(super) fn supervisor() -> Option<PathBuf> {
    None
}

pub(super) fn supervise(_rules: &Rules, _program: &Program) -> ExitCode {
    ExitCode::from(super::USAGE)
}

pub(super) fn support() -> Support {
    Support::default()
}
