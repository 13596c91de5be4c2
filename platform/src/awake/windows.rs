//! Windows: the monotonic clock of the standard library counts sleep, and the unbiased interrupt time does not.

use std::time::Duration;

use windows_sys::Win32::System::WindowsProgramming::QueryUnbiasedInterruptTime;

/// The time between two counts, in nanoseconds.
const COUNT_NS: u64 = 100;

/// Counts since the start of the system.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start(u64);

impl Start {
    pub(super) fn now() -> Self {
        let mut counts = 0;
        #[expect(unsafe_code, reason = "a system call that writes to a number of ours")]
        // SAFETY: the pointer is valid for the call, which fails only for a null pointer.
        let _read = unsafe { QueryUnbiasedInterruptTime(&raw mut counts) };
        Self(counts)
    }

    pub(super) fn elapsed(&self) -> Duration {
        let counts = Self::now().0.saturating_sub(self.0);
        Duration::from_nanos(counts.saturating_mul(COUNT_NS))
    }
}
