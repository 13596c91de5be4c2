//! Recognizes repeated requests: by the `Idempotency-Key` of a request, or by the operation item that a request belongs
//! to.

use link_protocol::{command::Sha256Hex, id::AccountId};
use sha2::{Digest as _, Sha256};

use crate::domain::{operation::Item, refusal::Refusal};

/// The longest content of a request that is stored as it is, in bytes.
const LONGEST_CONTENT: usize = 200;

/// A request with an idempotency key.
#[derive(Clone, Debug)]
pub struct Claim {
    pub account: AccountId,
    pub key: String,
    /// What stands for the content of the request. Another content under the same key is a conflict.
    pub fingerprint: String,
}

/// How a repetition of a request is recognized. The transaction that accepts the request also stores this.
#[derive(Clone, Copy, Debug)]
pub enum Once<'a> {
    /// Not at all: each request is a new one.
    Never,
    Key(&'a Claim),
    Item(&'a Item),
}

impl<'a> Once<'a> {
    /// Returns [`Self::Key`] if the request has an idempotency key.
    #[must_use]
    pub const fn of(claim: Option<&'a Claim>) -> Self {
        match claim {
            Some(claim) => Self::Key(claim),
            None => Self::Never,
        }
    }

    /// Returns the idempotency key of the request, if it has one.
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
    /// The id of the command or deployment that the request created.
    pub reference: String,
}

impl Claim {
    /// Returns the claim of a request with this `content`. A long content is stored as its hash, because one account could fill the
    /// database of all with it.
    #[must_use]
    pub fn new(account: AccountId, key: String, content: &str) -> Self {
        let fingerprint = if content.len() <= LONGEST_CONTENT {
            content.to_owned()
        } else {
            format!("sha256:{}", Sha256Hex::from_digest(&Sha256::digest(content)))
        };
        Self { account, key, fingerprint }
    }

    /// Returns the id that `before` created, if both are the same request.
    ///
    /// # Errors
    /// [`Refusal::IdempotencyConflict`] if `before` is a different request with the same key.
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
        let account = AccountId::from_uuid(Uuid::from_u128(1));
        let claim = |content: &str| Claim::new(account, "key".to_owned(), content);
        let before = || Some(Claimed { fingerprint: "a".to_owned(), reference: "cmd".to_owned() });
        assert_eq!(claim("a").made(None), Ok(None));
        assert_eq!(claim("a").made(before()), Ok(Some("cmd".to_owned())));
        assert_eq!(claim("b").made(before()), Err(Refusal::IdempotencyConflict));

        let [long, other] = ["a", "b"].map(|end| claim(&format!("{}{end}", "x".repeat(1_000_000))));
        assert!(long.fingerprint.len() < 100);
        let before = Claimed { fingerprint: long.fingerprint.clone(), reference: "cmd".to_owned() };
        assert_eq!(long.made(Some(before.clone())), Ok(Some("cmd".to_owned())));
        assert_eq!(other.made(Some(before)), Err(Refusal::IdempotencyConflict));
    }
}
