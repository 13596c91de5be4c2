//! How often something may be tried in a minute: by a person, and from an address of the network.
//!
//! What is remembered is bounded. When it is full of what is recent, a newcomer is refused.

use std::{
    collections::{HashMap, VecDeque},
    fmt,
    net::{IpAddr, Ipv6Addr},
    time::Duration,
};

use jiff::{SignedDuration, Timestamp};

use crate::domain::refusal::Refusal;

/// Logins of one e-mail address, and guesses of one person, in one [`WINDOW`].
pub const PER_PERSON: usize = 10;
/// Logins from one network address in one [`WINDOW`].
pub const PER_ADDRESS: usize = 30;
/// The time in which attempts are counted together.
pub const WINDOW: Duration = Duration::from_secs(60);

/// The addresses remembered at once; older ones make way.
const REMEMBERED: usize = 10_000;

/// The recent attempts.
#[derive(Debug)]
pub struct Attempts {
    limit: usize,
    recent: HashMap<String, VecDeque<Timestamp>>,
}

/// Where a request comes from, when that is known.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Peer(pub Option<IpAddr>);

impl Peer {
    /// Returns what counts as one address: of IPv6 the network, which one machine has all of.
    #[must_use]
    pub fn key(&self) -> String {
        match self.0.map(|address| address.to_canonical()) {
            None => "unknown".to_owned(),
            Some(IpAddr::V4(address)) => address.to_string(),
            Some(IpAddr::V6(address)) => {
                let network = u128::from(address) >> 64 << 64;
                format!("{}/64", Ipv6Addr::from(network))
            }
        }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(address) => write!(f, "{}", address.to_canonical()),
            None => f.write_str("unknown"),
        }
    }
}

impl Attempts {
    /// Allows `limit` in one [`WINDOW`].
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { limit, recent: HashMap::new() }
    }

    /// Counts an attempt for `who`.
    ///
    /// # Errors
    /// [`Refusal::TooManyAttempts`] when there were as many as there may be in the last [`WINDOW`]; the refused
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
            && times.len() >= self.limit
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
        let mut attempts = Attempts::new(10);
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

    #[test]
    fn a_network_of_ipv6_counts_as_one_address() {
        let key = |text: &str| Peer(Some(text.parse().unwrap())).key();
        assert_eq!(key("2001:db8::1"), key("2001:db8::ffff:1"));
        assert_ne!(key("2001:db8::1"), key("2001:db8:0:1::1"));
        assert_eq!(key("::ffff:192.0.2.1"), key("192.0.2.1"));
        assert_ne!(key("192.0.2.1"), key("192.0.2.2"));
    }
}
