//! How often a login may be tried: ten times a minute for each e-mail address.

use std::{
    collections::{HashMap, VecDeque},
    time::Duration,
};

use jiff::{SignedDuration, Timestamp};

use crate::domain::refusal::Refusal;

/// Attempts in one [`WINDOW`].
pub const LIMIT: usize = 10;
/// The time in which attempts are counted together.
pub const WINDOW: Duration = Duration::from_secs(60);

/// The addresses remembered at once; older ones make way.
const REMEMBERED: usize = 10_000;

/// The recent attempts.
#[derive(Debug, Default)]
pub struct Attempts {
    recent: HashMap<String, VecDeque<Timestamp>>,
}

impl Attempts {
    /// Counts an attempt for `who`.
    ///
    /// # Errors
    /// [`Refusal::TooManyAttempts`] when there were [`LIMIT`] in the last [`WINDOW`]; the refused
    /// attempt is not counted.
    pub fn count(&mut self, who: &str, now: Timestamp) -> Result<(), Refusal> {
        let window = SignedDuration::try_from(WINDOW).unwrap_or(SignedDuration::ZERO);
        if self.recent.len() >= REMEMBERED && !self.recent.contains_key(who) {
            self.recent.retain(|_, times| {
                times.back().is_some_and(|&last| now.duration_since(last) < window)
            });
            if self.recent.len() >= REMEMBERED {
                return Err(Refusal::TooManyAttempts { retry_after_s: WINDOW.as_secs() });
            }
        }
        let times = self.recent.entry(who.to_owned()).or_default();
        while times.front().is_some_and(|&first| now.duration_since(first) >= window) {
            times.pop_front();
        }
        if let Some(&first) = times.front()
            && times.len() >= LIMIT
        {
            let wait = window.saturating_sub(now.duration_since(first));
            let retry_after_s = u64::try_from(wait.as_secs()).unwrap_or(0).max(1);
            return Err(Refusal::TooManyAttempts { retry_after_s });
        }
        times.push_back(now);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use jiff::ToSpan as _;

    use super::*;

    #[test]
    fn the_eleventh_attempt_in_a_minute_waits() {
        let mut attempts = Attempts::default();
        let start = Timestamp::from_second(1_790_000_000).unwrap();
        for second in 0..10 {
            attempts.count("ada", start + second.seconds()).unwrap();
        }
        assert_eq!(
            attempts.count("ada", start + 10.seconds()),
            Err(Refusal::TooManyAttempts { retry_after_s: 50 })
        );
        assert_eq!(
            attempts.count("ada", start + 59_999.milliseconds()),
            Err(Refusal::TooManyAttempts { retry_after_s: 1 })
        );
        assert!(attempts.count("bob", start + 10.seconds()).is_ok());
        assert!(attempts.count("ada", start + 60.seconds()).is_ok());
    }
}
