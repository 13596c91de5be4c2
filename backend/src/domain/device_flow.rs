//! The device flow (RFC 8628): a machine polls with its device code until a person approves or denies its user code. A
//! grant is returned once, the interval grows after a premature poll, and codes expire after ten minutes.

use std::collections::HashMap;

use jiff::{SignedDuration, Timestamp};
use link_protocol::{
    backend_api::device_flow::PendingDevice,
    id::{AccountId, UserId},
};

use crate::domain::{network::Network, refusal::Refusal};

/// The lifetime of the codes, in seconds.
pub const LIFETIME_S: u32 = 600;
/// The initial interval between two polls, in seconds.
pub const INTERVAL_S: u32 = 5;
/// Seconds that a premature poll adds to the interval.
const SLOWER_S: u32 = 5;
/// The maximum number of pending logins; one more replaces one of them.
pub const MOST_PENDING: u32 = 1_000;

/// Letters of user codes: no vowels, and no letters that look alike.
const LETTERS: &[u8; 20] = b"BCDFGHJKLMNPQRSTVWXZ";
const CODE_LETTERS: usize = 8;

/// The user code, which a person types: eight letters.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UserCode(String);

/// A login that waits for the decision of a person.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Pending {
    pub digest: [u8; 32],
    pub user_code: UserCode,
    pub client_name: String,
    pub address: String,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    pub interval_s: u32,
    pub polled_at: Option<Timestamp>,
    pub decision: Decision,
}

/// The decision of the person.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Decision {
    Open,
    Denied,
    Granted { user: UserId, account: AccountId },
}

/// The answer to a poll.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Poll {
    Pending,
    /// The poll was premature: the interval has grown.
    TooFast,
    Expired,
    Denied,
    Granted {
        user: UserId,
        account: AccountId,
    },
}

/// Returns the login to drop when too many wait: the oldest login of the network with the most logins. A network that
/// fills the list thus displaces only its own logins. `waiting` is ordered by start time.
#[must_use]
pub fn gives_way(waiting: &[Pending]) -> Option<&Pending> {
    let mut of_network: HashMap<Option<Network>, usize> = HashMap::new();
    for pending in waiting {
        *of_network.entry(pending.network()).or_default() += 1;
    }
    let most = of_network.values().max()?;
    waiting.iter().find(|pending| of_network.get(&pending.network()) == Some(most))
}

impl UserCode {
    /// Makes a code from random bytes.
    #[must_use]
    pub fn from_random(bytes: &[u8; 32]) -> Self {
        let mut number = bytes.iter().take(16).fold(0_u128, |n, byte| n << 8 | u128::from(*byte));
        let mut code = String::with_capacity(CODE_LETTERS);
        for _ in 0..CODE_LETTERS {
            let place = usize::try_from(number % 20).unwrap_or(0);
            code.push(char::from(LETTERS[place]));
            number /= 20;
        }
        Self(code)
    }

    /// Parses a user code. Case, spaces and dashes are ignored.
    ///
    /// # Errors
    /// [`Refusal::UserCodeUnknown`] if `text` cannot be a code.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let letters = text.chars().filter(|c| *c != '-' && !c.is_whitespace());
        let code: String = letters.take(CODE_LETTERS + 1).map(|c| c.to_ascii_uppercase()).collect();
        if code.len() == CODE_LETTERS && code.bytes().all(|byte| LETTERS.contains(&byte)) {
            Ok(Self(code))
        } else {
            Err(Refusal::UserCodeUnknown)
        }
    }

    /// Returns the code in its stored form.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the code in the form that a person reads.
    #[must_use]
    pub fn shown(&self) -> String {
        let (first, second) = self.0.split_at(CODE_LETTERS / 2);
        format!("{first}-{second}")
    }
}

impl Pending {
    /// Makes a pending login.
    #[must_use]
    pub fn new(
        digest: [u8; 32],
        user_code: UserCode,
        client_name: String,
        address: String,
        now: Timestamp,
    ) -> Self {
        let lifetime = SignedDuration::from_secs(i64::from(LIFETIME_S));
        Self {
            digest,
            user_code,
            client_name,
            address,
            created_at: now,
            expires_at: now.checked_add(lifetime).unwrap_or(Timestamp::MAX),
            interval_s: INTERVAL_S,
            polled_at: None,
            decision: Decision::Open,
        }
    }

    /// Answers a poll.
    pub fn poll(&mut self, now: Timestamp) -> Poll {
        if now >= self.expires_at {
            return Poll::Expired;
        }
        match self.decision {
            Decision::Denied => return Poll::Denied,
            Decision::Granted { user, account } => return Poll::Granted { user, account },
            Decision::Open => {}
        }
        let interval = SignedDuration::from_secs(i64::from(self.interval_s));
        // One second of tolerance, because network delays can bring two polls closer together.
        let early = interval.saturating_sub(SignedDuration::from_secs(1));
        let too_fast = self.polled_at.is_some_and(|last| now.duration_since(last) < early);
        self.polled_at = Some(now);
        if too_fast {
            self.interval_s = self.interval_s.saturating_add(SLOWER_S).min(LIFETIME_S);
            Poll::TooFast
        } else {
            Poll::Pending
        }
    }

    /// Applies the decision of a person.
    ///
    /// # Errors
    /// [`Refusal::UserCodeUnknown`] if the code has expired or a decision was made before.
    pub fn decide(&mut self, decision: Decision, now: Timestamp) -> Result<(), Refusal> {
        self.open(now)?;
        self.decision = decision;
        Ok(())
    }

    /// Returns the description that the person sees before the decision.
    ///
    /// # Errors
    /// As for [`Self::decide`].
    pub fn info(&self, now: Timestamp) -> Result<PendingDevice, Refusal> {
        self.open(now)?;
        Ok(PendingDevice {
            user_code: self.user_code.shown(),
            client_name: self.client_name.clone(),
            address: self.address.clone(),
            created_at: self.created_at,
            expires_at: self.expires_at,
        })
    }

    /// Returns the network of the machine that requested the codes.
    fn network(&self) -> Option<Network> {
        let [_host, neighbours, ..] = Network::around(self.address.parse().ok()?);
        Some(neighbours)
    }

    fn open(&self, now: Timestamp) -> Result<(), Refusal> {
        if self.decision == Decision::Open && now < self.expires_at {
            Ok(())
        } else {
            Err(Refusal::UserCodeUnknown)
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::ToSpan as _;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_code_reads_back_however_it_is_typed() {
        let code = UserCode::from_random(&[7; 32]);
        assert_eq!(code.shown().len(), 9);
        let typed = format!(" {} ", code.shown().to_lowercase().replace('-', " - "));
        assert_eq!(UserCode::parse(&typed), Ok(code.clone()));
        for bad in ["", "AAAA-AAAA", "BCDF-GHJ", "BCDF-GHJK-L", "ＢCDFGHJK"] {
            assert_eq!(UserCode::parse(bad), Err(Refusal::UserCodeUnknown), "{bad}");
        }
        assert_ne!(code, UserCode::from_random(&[8; 32]));
    }

    #[test]
    fn who_polls_too_fast_waits_longer_and_a_grant_ends_the_waiting() {
        let mut pending = pending();
        assert_eq!(pending.poll(start()), Poll::Pending);
        assert_eq!(pending.poll(start() + 5.seconds()), Poll::Pending);
        assert_eq!(pending.poll(start() + 6.seconds()), Poll::TooFast);
        assert_eq!(pending.interval_s, 10);
        assert_eq!(pending.poll(start() + 16.seconds()), Poll::Pending);
        let granted = Decision::Granted { user: user(), account: account() };
        assert_eq!(pending.decide(granted, start() + 17.seconds()), Ok(()));
        assert_eq!(pending.decide(Decision::Denied, start()), Err(Refusal::UserCodeUnknown));
        let answer = Poll::Granted { user: user(), account: account() };
        assert_eq!(pending.poll(start() + 17.seconds()), answer);
        assert_eq!(pending.poll(start() + 600.seconds()), Poll::Expired);
    }

    #[test]
    fn codes_end_after_ten_minutes() {
        let mut pending = pending();
        let late = start() + 600.seconds();
        assert!(pending.info(late - 1.second()).is_ok());
        assert_eq!(pending.info(late), Err(Refusal::UserCodeUnknown));
        assert_eq!(pending.decide(Decision::Denied, late), Err(Refusal::UserCodeUnknown));
        assert_eq!(pending.decide(Decision::Denied, start()), Ok(()));
        assert_eq!(pending.poll(start()), Poll::Denied);
    }

    #[test]
    fn whoever_has_the_most_waiting_gives_way_with_the_oldest() {
        let at = |address: &str, letter: u8| {
            let code = UserCode::from_random(&[letter; 32]);
            Pending::new([letter; 32], code, "bot".to_owned(), address.to_owned(), start())
        };
        let waiting =
            [at("192.0.2.1", 1), at("198.51.100.1", 2), at("198.51.100.2", 3), at("unknown", 4)];
        assert_eq!(gives_way(&waiting), Some(&waiting[1]), "one network, two addresses");
        assert_eq!(gives_way(&waiting[..2]), Some(&waiting[0]), "the oldest, of equals");
        assert_eq!(gives_way(&[]), None);
    }

    fn pending() -> Pending {
        let code = UserCode::from_random(&[1; 32]);
        Pending::new([0; 32], code, "laptop".to_owned(), "192.0.2.1".to_owned(), start())
    }

    fn start() -> Timestamp {
        Timestamp::from_second(1_790_000_000).unwrap()
    }

    fn user() -> UserId {
        UserId::from_uuid(Uuid::from_u128(1))
    }

    fn account() -> AccountId {
        AccountId::from_uuid(Uuid::from_u128(2))
    }
}
