//! Logins: refresh tokens rotate, and the second use of a token revokes its whole family.
//!
//! The answer to an exchange can be lost, for example when a page is loaded twice in a row. So for ten seconds after
//! its exchange, a token returns the same successor again, as long as the successor is unused.

use jiff::{SignedDuration, Timestamp};
use link_protocol::id::{AccountId, UserId};

/// The time after an exchange during which it may be repeated.
const GRACE: SignedDuration = SignedDuration::from_secs(10);

/// A stored refresh token, without its secret.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RefreshRecord {
    pub digest: [u8; 32],
    /// The family: all tokens of one login.
    pub family: String,
    pub user: UserId,
    /// The account of the login.
    pub account: AccountId,
    pub expires_at: Timestamp,
    /// Whether a newer token has replaced it.
    pub used: bool,
    /// The time at which the token was replaced, if known.
    pub used_at: Option<Timestamp>,
}

/// The consequence of the use of a refresh token.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Redemption {
    /// The token is exchanged for a new one.
    Rotate,
    /// The token was exchanged a moment ago: its successor is returned once more.
    Repeat,
    /// The token was used before: the family is revoked.
    Reused,
    /// The token has expired.
    Expired,
}

impl RefreshRecord {
    /// Decides the consequence of the use of the token at `now`. `successor` is the token that replaced it.
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
