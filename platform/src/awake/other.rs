//! Linux and macOS: the monotonic clock of the standard library does not count sleep.

#![expect(clippy::disallowed_methods, reason = "IO shell: the clock")]

use std::time::{Duration, Instant};

#[derive(Clone, Copy, Debug)]
pub(super) struct Start(Instant);

impl Start {
    pub(super) fn now() -> Self {
        Self(Instant::now())
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}
