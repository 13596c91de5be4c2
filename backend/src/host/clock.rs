//! The clock, which each use case reads once at its start and tests replace.

#![expect(clippy::disallowed_methods, reason = "IO shell: reads the clock")]

use jiff::Timestamp;

/// A source of the time.
pub trait Clock: Send + Sync + 'static {
    /// Returns the time in whole milliseconds, the precision of stored times.
    fn now(&self) -> Timestamp;
}

/// The clock of the operating system.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let now = Timestamp::now();
        Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
    }
}
