//! Time as the core sees it: monotonic time since the process started, and the backend's clock.
//!
//! No decision uses the device's wall clock, so changing it has no effect.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

/// Monotonic time since the agent's process started.
pub type Now = Duration;

/// The device's estimate of the backend's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct ServerClock {
    seen: Option<(Timestamp, Now)>,
}

impl ServerClock {
    /// Records that the backend's clock showed `server_time` at `now`.
    pub fn set(&mut self, server_time: Timestamp, now: Now) {
        self.seen = Some((server_time, now));
    }

    /// Returns whether `moment` has passed on the backend's clock; false while that clock is
    /// unknown.
    #[must_use]
    pub fn has_passed(&self, moment: Timestamp, now: Now) -> bool {
        self.seen.is_some_and(|(server_time, at)| {
            let elapsed = SignedDuration::try_from(now.saturating_sub(at)).unwrap_or_default();
            server_time.checked_add(elapsed).is_ok_and(|server_now| server_now > moment)
        })
    }
}
