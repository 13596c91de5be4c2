//! Rate limits as token buckets: a burst, and a rate per second.

use std::time::Duration;

/// The size and the refill rate of a token bucket.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Allowance {
    /// The size of the bucket: the maximum that may be spent at once.
    pub burst: u32,
    /// The amount that is refilled per second.
    pub each_second: u32,
}

/// A token bucket with the limits of an [`Allowance`].
#[derive(Clone, Copy, Debug)]
pub struct Purse {
    allowance: Allowance,
    /// The tokens that are left. Negative if more was spent than was left.
    left: f64,
    /// The time of the last refill, since any fixed moment.
    at: Duration,
}

impl Purse {
    /// Returns a full bucket.
    #[must_use]
    pub fn full(allowance: Allowance, now: Duration) -> Self {
        Self { allowance, left: f64::from(allowance.burst), at: now }
    }

    /// Spends `amount` and returns how long the caller must wait before it spends more.
    #[must_use]
    pub fn spend(&mut self, amount: u32, now: Duration) -> Duration {
        self.refill(now);
        self.left -= f64::from(amount);
        let debt = (-self.left).max(0.0);
        Duration::from_secs_f64(debt / f64::from(self.allowance.each_second.max(1)))
    }

    /// Tells whether the bucket holds `amount`.
    #[must_use]
    pub fn has(&mut self, amount: u32, now: Duration) -> bool {
        self.refill(now);
        self.left >= f64::from(amount)
    }

    fn refill(&mut self, now: Duration) {
        let passed = now.saturating_sub(self.at).as_secs_f64();
        let Allowance { burst, each_second } = self.allowance;
        self.left = (self.left + passed * f64::from(each_second)).min(f64::from(burst));
        self.at = self.at.max(now);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALLOWANCE: Allowance = Allowance { burst: 100, each_second: 10 };

    #[test]
    fn what_is_over_the_burst_is_waited_for() {
        let at = Duration::from_secs;
        let mut purse = Purse::full(ALLOWANCE, at(5));
        assert_eq!(purse.spend(100, at(5)), Duration::ZERO);
        assert!(!purse.has(1, at(5)));
        assert_eq!(purse.spend(20, at(5)), at(2));
        assert_eq!(purse.spend(0, at(7)), Duration::ZERO);
        assert!(purse.has(10, at(8)));
        assert_eq!(purse.spend(100, at(1000)), Duration::ZERO, "no more than the burst is kept");
        assert_eq!(purse.spend(10, at(1000)), at(1));
    }

    proptest! {
        #[test]
        fn whoever_waits_as_told_never_sends_more_than_allowed(
            amounts in proptest::collection::vec(0_u32..50, 1..60),
        ) {
            let mut purse = Purse::full(ALLOWANCE, Duration::ZERO);
            let (mut now, mut sent) = (Duration::ZERO, 0_u32);
            for amount in amounts {
                sent += amount;
                now += purse.spend(amount, now);
                let most = 100.0 + now.as_secs_f64() * 10.0;
                prop_assert!(f64::from(sent) <= most + 0.001, "{sent} {most}");
            }
        }
    }
}
