//! Logins: refresh tokens rotate, and one that comes twice ends its whole family.
//!
//! Except at once: an answer can be lost, as when a page is loaded twice in a row. For ten seconds
//! after its exchange a token leads to the same successor again, while nobody has used that one.

use jiff::{SignedDuration, Timestamp};
use link_protocol::id::{AccountId, UserId};

/// How long an exchange may be repeated.
const GRACE: SignedDuration = SignedDuration::from_secs(10);

/// A refresh token as it is stored: by its SHA-256.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RefreshRecord {
    pub digest: [u8; 32],
    /// What all tokens of one login share.
    pub family: String,
    pub user: UserId,
    /// The account that the login stands in.
    pub account: AccountId,
    pub expires_at: Timestamp,
    /// A newer token has taken its place.
    pub used: bool,
    /// When that happened, if it is known.
    pub used_at: Option<Timestamp>,
}

/// What a refresh token that was shown is good for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Redemption {
    /// It is exchanged for a new one.
    Rotate,
    /// It was exchanged a moment ago; its successor is given once more.
    Repeat,
    /// Somebody used it before: the family is revoked.
    Reused,
    /// It is too old.
    Expired,
}

impl RefreshRecord {
    /// Decides what the token is good for at `now`, given the one that took its place.
    #[must_use]
    pub fn redeem(&self, successor: Option<&Self>, now: Timestamp) -> Redemption {
        if self.used {
            let recent = self.used_at.is_some_and(|at| now.duration_since(at) < GRACE);
            let unused = successor.is_some_and(|next| !next.used && next.family == self.family);
            if recent && unused { Redemption::Repeat } else { Redemption::Reused }
        } else if now >= self.expires_at {
            Redemption::Expired
        } else {
            Redemption::Rotate
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::ToSpan as _;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn an_exchange_is_repeated_for_ten_seconds_while_its_successor_is_unused() {
        let start = Timestamp::from_second(1_790_000_000).unwrap();
        let token = |used_at: Option<Timestamp>| RefreshRecord {
            digest: [0; 32],
            family: "family".to_owned(),
            user: UserId::from_uuid(Uuid::from_u128(1)),
            account: AccountId::from_uuid(Uuid::from_u128(2)),
            expires_at: start + 60.seconds(),
            used: used_at.is_some(),
            used_at,
        };
        let (fresh, used) = (token(None), token(Some(start)));
        let redeem =
            |next: Option<&RefreshRecord>, after: i64| used.redeem(next, start + after.seconds());
        assert_eq!(redeem(Some(&fresh), 9), Redemption::Repeat);
        assert_eq!(redeem(Some(&fresh), 10), Redemption::Reused);
        assert_eq!(redeem(Some(&used), 1), Redemption::Reused);
        assert_eq!(redeem(None, 1), Redemption::Reused);
        let foreign = RefreshRecord { family: "other".to_owned(), ..fresh.clone() };
        assert_eq!(redeem(Some(&foreign), 1), Redemption::Reused);
        assert_eq!(fresh.redeem(None, start), Redemption::Rotate);
        assert_eq!(fresh.redeem(None, start + 60.seconds()), Redemption::Expired);
    }
}
