//! What tells a wish from one that was accepted before: the `Idempotency-Key` of its request, or the item
//! of the operation that it belongs to.

use link_protocol::id::AccountId;

use crate::domain::{operation::Item, refusal::Refusal};

/// A request with an idempotency key, by which a repetition is told from a new request.
#[derive(Clone, Debug)]
pub struct Claim {
    pub account: AccountId,
    pub key: String,
    /// The content of the request; another content under the same key is a conflict.
    pub fingerprint: String,
}

/// By what a wish is told from one that was accepted before. It is stored in the transaction that accepts
/// the wish.
#[derive(Clone, Copy, Debug)]
pub enum Once<'a> {
    /// By nothing: each request is a wish of its own.
    Never,
    Key(&'a Claim),
    Item(&'a Item),
}

impl<'a> Once<'a> {
    /// Returns the claim of a request that may have named itself.
    #[must_use]
    pub const fn of(claim: Option<&'a Claim>) -> Self {
        match claim {
            Some(claim) => Self::Key(claim),
            None => Self::Never,
        }
    }

    /// Returns the key that the request named itself with.
    #[must_use]
    pub const fn claim(self) -> Option<&'a Claim> {
        match self {
            Self::Key(claim) => Some(claim),
            Self::Never | Self::Item(_) => None,
        }
    }
}

/// A stored request with an idempotency key.
#[derive(Clone, Debug)]
pub struct Claimed {
    pub fingerprint: String,
    /// The id of the command or deployment that the request made.
    pub reference: String,
}

impl Claim {
    /// Returns the id that `before` has, when it is the same request.
    ///
    /// # Errors
    /// [`Refusal::IdempotencyConflict`] when the key stands for another request.
    pub fn made(&self, before: Option<Claimed>) -> Result<Option<String>, Refusal> {
        match before {
            Some(before) if before.fingerprint == self.fingerprint => Ok(Some(before.reference)),
            Some(_) => Err(Refusal::IdempotencyConflict),
            None => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_key_stands_for_one_request() {
        let claim = |fingerprint: &str| Claim {
            account: AccountId::from_uuid(Uuid::from_u128(1)),
            key: "key".to_owned(),
            fingerprint: fingerprint.to_owned(),
        };
        let before = || Some(Claimed { fingerprint: "a".to_owned(), reference: "cmd".to_owned() });
        assert_eq!(claim("a").made(None), Ok(None));
        assert_eq!(claim("a").made(before()), Ok(Some("cmd".to_owned())));
        assert_eq!(claim("b").made(before()), Err(Refusal::IdempotencyConflict));
    }
}
