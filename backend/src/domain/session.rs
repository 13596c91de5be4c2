//! Logins: refresh tokens rotate, and one that comes twice ends its whole family.

use jiff::Timestamp;
use link_protocol::id::{AccountId, UserId};

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
}

/// What a refresh token that was shown is good for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Redemption {
    /// It is exchanged for a new one.
    Rotate,
    /// Somebody used it before: the family is revoked.
    Reused,
    /// It is too old.
    Expired,
}

impl RefreshRecord {
    /// Decides what the token is good for at `now`.
    #[must_use]
    pub fn redeem(&self, now: Timestamp) -> Redemption {
        if self.used {
            Redemption::Reused
        } else if now >= self.expires_at {
            Redemption::Expired
        } else {
            Redemption::Rotate
        }
    }
}
