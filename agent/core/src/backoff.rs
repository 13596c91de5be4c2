//! The waits before restarts of an engine or a pipeline that ended unexpectedly.

use std::time::Duration;

/// The first wait; it doubles up to [`LONGEST`].
pub const FIRST: Duration = Duration::from_secs(1);

/// The longest wait.
pub const LONGEST: Duration = Duration::from_secs(60);

/// After running this long, the start counts as successful and the waits begin again at [`FIRST`].
pub const STEADY: Duration = Duration::from_secs(60);

/// Counts consecutive failures.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Backoff {
    failures: u32,
}

impl Backoff {
    /// Creates a counter without failures.
    #[must_use]
    pub const fn new() -> Self {
        Self { failures: 0 }
    }

    /// Records that a run ended after `ran`, and returns the wait before the restart.
    pub fn ended(&mut self, ran: Duration) -> Duration {
        self.failures = if ran >= STEADY { 1 } else { self.failures.saturating_add(1) };
        let doubled = 1_u32.checked_shl(self.failures - 1).unwrap_or(u32::MAX);
        FIRST.saturating_mul(doubled).min(LONGEST)
    }

    /// Returns the number of consecutive failures.
    #[must_use]
    pub const fn failures(self) -> u32 {
        self.failures
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn waits_double_to_a_minute_and_begin_again_after_a_steady_run() {
        let mut backoff = Backoff::default();
        let mut waits = Vec::new();
        for _ in 0..8 {
            waits.push(backoff.ended(Duration::ZERO).as_secs());
        }
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!((backoff.ended(STEADY), backoff.failures()), (FIRST, 1));
    }

    proptest! {
        #[test]
        fn a_wait_is_never_shorter_than_the_first_nor_longer_than_the_longest(
            runs in proptest::collection::vec(0..100_u64, 0..200)
        ) {
            let mut backoff = Backoff::default();
            for run in runs {
                let wait = backoff.ended(Duration::from_secs(run));
                prop_assert!((FIRST..=LONGEST).contains(&wait));
            }
        }
    }
}
