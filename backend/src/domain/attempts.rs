//! Limits for the number of login attempts and code guesses per minute, of a person and from a network.
//!
//! The memory for attempts is bounded, and no new host is refused because the memory is full. When there are too many
//! hosts, the networks around them are counted, with higher limits. When there are too many networks too, only the
//! queue of password hashes limits attempts. When there are too many people, the person with the oldest attempt is
//! forgotten.

use std::{
    collections::{HashMap, VecDeque},
    fmt,
    hash::Hash,
    net::IpAddr,
    time::Duration,
};

use jiff::{SignedDuration, Timestamp};
use link_protocol::id::UserId;

use crate::domain::{
    network::{LEVELS, Network},
    refusal::Refusal,
};

/// The limit for logins with one e-mail address, and for guesses by one person, in one [`WINDOW`].
pub const PER_PERSON: usize = 10;
/// The limits for logins in one [`WINDOW`]: from one host, and from each wider network while there are too many hosts.
const PER_NETWORK: [usize; LEVELS] = [30, 120, 480];
/// The period over which attempts are counted.
pub const WINDOW: Duration = Duration::from_secs(60);

/// The maximum number of remembered people, and of remembered networks of each width.
const REMEMBERED: usize = 10_000;

/// The recent attempts of many parties, each with the same limit.
#[derive(Debug)]
pub struct Attempts<K> {
    limit: usize,
    most: usize,
    /// The times of the attempts of each party. Parties without attempts are removed.
    recent: HashMap<K, VecDeque<Timestamp>>,
    /// The times of all attempts, oldest first.
    order: VecDeque<(Timestamp, K)>,
}

/// The recent attempts from networks, by width.
#[derive(Debug)]
pub struct Networks {
    levels: [Attempts<Option<Network>>; LEVELS],
}

/// The recent logins.
#[derive(Debug)]
pub struct Logins {
    networks: Networks,
    /// By e-mail address, from unknown hosts.
    people: Attempts<String>,
    /// By person, from hosts with an earlier login.
    familiar: Attempts<(UserId, Network)>,
}

/// The origin of a request, if known.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Peer(pub Option<IpAddr>);

impl Peer {
    /// Returns the host, if the address is known.
    #[must_use]
    pub fn host(&self) -> Option<Network> {
        self.0.map(Network::host)
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

impl<K: Clone + Eq + Hash> Attempts<K> {
    /// Allows `limit` in one [`WINDOW`].
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self::remembering(limit, REMEMBERED)
    }

    fn remembering(limit: usize, most: usize) -> Self {
        Self { limit, most, recent: HashMap::new(), order: VecDeque::new() }
    }

    /// Counts an attempt of `who`. When too many parties are remembered, the party with the oldest attempt is
    /// forgotten.
    ///
    /// # Errors
    /// [`Refusal::TooManyAttempts`] if `who` has reached the limit within the last [`WINDOW`]. The refused attempt is
    /// not counted.
    pub fn count(&mut self, who: K, now: Timestamp) -> Result<(), Refusal> {
        self.forget_old(now);
        while !self.has_room_for(&who) {
            self.forget_oldest();
        }
        self.add(who, now)
    }

    /// Counts an attempt of `who`, unless `who` is new and too many parties are remembered.
    fn count_if_room(&mut self, who: K, now: Timestamp) -> Option<Result<(), Refusal>> {
        self.forget_old(now);
        self.has_room_for(&who).then(|| self.add(who, now))
    }

    fn has_room_for(&self, who: &K) -> bool {
        self.recent.len() < self.most || self.recent.contains_key(who)
    }

    fn add(&mut self, who: K, now: Timestamp) -> Result<(), Refusal> {
        let times = self.recent.get(&who);
        if let Some(&first) = times.and_then(VecDeque::front)
            && times.is_some_and(|times| times.len() >= self.limit)
        {
            let wait = window().saturating_sub(now.duration_since(first));
            let retry_after_s = u64::try_from(wait.as_secs()).unwrap_or(0).max(1);
            return Err(Refusal::TooManyAttempts { retry_after_s });
        }
        self.recent.entry(who.clone()).or_default().push_back(now);
        self.order.push_back((now, who));
        Ok(())
    }

    fn forget_old(&mut self, now: Timestamp) {
        while self.order.front().is_some_and(|(at, _)| now.duration_since(*at) >= window()) {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        let Some((_, who)) = self.order.pop_front() else { return };
        if let Some(times) = self.recent.get_mut(&who) {
            times.pop_front();
            if times.is_empty() {
                self.recent.remove(&who);
            }
        }
    }
}

impl Default for Networks {
    fn default() -> Self {
        Self::remembering(REMEMBERED)
    }
}

impl Networks {
    fn remembering(most: usize) -> Self {
        Self { levels: PER_NETWORK.map(|limit| Attempts::remembering(limit, most)) }
    }

    /// Counts an attempt from `peer`, for its host or for the narrowest network around it for which there is room.
    ///
    /// # Errors
    /// [`Refusal::TooManyAttempts`].
    pub fn count(&mut self, peer: Peer, now: Timestamp) -> Result<(), Refusal> {
        let around = peer.0.map(Network::around);
        let mut levels = self.levels.iter_mut().enumerate();
        let counted = levels.find_map(|(level, attempts)| {
            let network = around.and_then(|around| around.get(level).copied());
            attempts.count_if_room(network, now)
        });
        counted.unwrap_or(Ok(()))
    }
}

impl Default for Logins {
    fn default() -> Self {
        Self {
            networks: Networks::default(),
            people: Attempts::new(PER_PERSON),
            familiar: Attempts::new(PER_PERSON),
        }
    }
}

impl Logins {
    /// Counts a login with the e-mail address `who` from a host without an earlier login.
    ///
    /// # Errors
    /// [`Refusal::TooManyAttempts`] for the network or for the e-mail address.
    pub fn count_stranger(&mut self, peer: Peer, who: &str, now: Timestamp) -> Result<(), Refusal> {
        self.networks.count(peer, now)?;
        self.people.count(who.to_owned(), now)
    }

    /// Counts a login of `user` from a host where `user` has logged in before. Attempts of other people from that host,
    /// and attempts with the name of `user` from other hosts, do not count.
    ///
    /// # Errors
    /// [`Refusal::TooManyAttempts`].
    pub fn count_familiar(
        &mut self,
        user: UserId,
        host: Network,
        now: Timestamp,
    ) -> Result<(), Refusal> {
        self.familiar.count((user, host), now)
    }
}

fn window() -> SignedDuration {
    SignedDuration::try_from(WINDOW).unwrap_or(SignedDuration::ZERO)
}

#[cfg(test)]
mod tests {
    use jiff::ToSpan as _;
    use proptest::{collection::vec, prelude::*};
    use uuid::Uuid;

    use super::*;

    #[test]
    fn the_eleventh_attempt_in_a_minute_waits() {
        let mut attempts = Attempts::new(10);
        let start = start();
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
    fn ten_thousand_networks_keep_no_newcomer_out_and_are_limited_together() {
        let mut networks = Networks::default();
        let attacker = |number: u16| {
            let [high, low] = number.to_be_bytes();
            peer(&format!("2001:db8:1:{high:02x}{low:02x}::1"))
        };
        let taken = (0..20_000).filter(|n| networks.count(attacker(*n), start()).is_ok()).count();
        assert!((REMEMBERED..REMEMBERED + 50 * PER_NETWORK[1]).contains(&taken), "{taken}");
        for newcomer in ["192.0.2.1", "2001:db8:2::1"] {
            assert_eq!(networks.count(peer(newcomer), start()), Ok(()), "{newcomer}");
        }
    }

    #[test]
    fn who_guesses_in_the_name_of_a_person_does_not_count_where_the_person_logged_in_before() {
        let mut logins = Logins::default();
        let ada = UserId::from_uuid(Uuid::from_u128(1));
        let home = peer("192.0.2.1");
        while logins.count_stranger(home, "ada@example.org", start()).is_ok() {}
        for _ in 0..PER_PERSON {
            assert_eq!(logins.count_familiar(ada, home.host().unwrap(), start()), Ok(()));
        }
        logins.count_familiar(ada, home.host().unwrap(), start()).unwrap_err();
    }

    proptest! {
        #[test]
        fn nobody_has_more_than_the_limit_in_a_minute_and_what_is_remembered_is_bounded(
            steps in vec((0..6_u8, 0..30_i64), 0..200),
        ) {
            let mut attempts = Attempts::remembering(3, 4);
            let mut taken: Vec<(u8, Timestamp)> = Vec::new();
            let mut now = start();
            for (who, seconds) in steps {
                now += seconds.seconds();
                let counted = attempts.count_if_room(who, now);
                prop_assert!(attempts.recent.len() <= 4);
                let times: usize = attempts.recent.values().map(VecDeque::len).sum();
                prop_assert_eq!(times, attempts.order.len());
                if counted == Some(Ok(())) {
                    taken.push((who, now));
                    let is_recent = |at: Timestamp| now.duration_since(at) < window();
                    let own = taken.iter().filter(|(other, at)| *other == who && is_recent(*at));
                    prop_assert!(own.count() <= 3);
                }
            }
        }

        #[test]
        fn whatever_others_do_a_newcomer_from_elsewhere_may_try(
            others in vec(any::<u32>(), 0..400),
            newcomer in any::<u16>(),
        ) {
            let mut networks = Networks::remembering(8);
            for other in others {
                // All addresses are in 10.0.0.0/8.
                let address = IpAddr::from(((other >> 8) | 0x0a00_0000).to_be_bytes());
                networks.count(Peer(Some(address)), start()).unwrap_or(());
            }
            let [third, last] = newcomer.to_be_bytes();
            let newcomer = Peer(Some(IpAddr::from([192, 0, third, last])));
            prop_assert_eq!(networks.count(newcomer, start()), Ok(()));
        }

        #[test]
        fn whoever_is_guessed_at_is_forgotten_only_for_others(steps in vec(0..9_u8, 0..200)) {
            let mut attempts = Attempts::remembering(2, 4);
            for who in steps {
                let was_new = !attempts.recent.contains_key(&who);
                let counted = attempts.count(who, start());
                prop_assert!(!was_new || counted == Ok(()), "a newcomer is never refused");
                prop_assert!(attempts.recent.len() <= 4);
            }
        }
    }

    fn peer(text: &str) -> Peer {
        Peer(Some(text.parse().unwrap()))
    }

    fn start() -> Timestamp {
        Timestamp::from_second(1_790_000_000).unwrap()
    }
}
