//! The clock shared by all processes of a run: the machine's monotonic time.

use rustix::time::{ClockId, clock_gettime};

/// Returns the microseconds since the machine started, equal in every process.
#[must_use]
pub fn now_us() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds * 1_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0) / 1_000
}
