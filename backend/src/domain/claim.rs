//! `Idempotency-Key`: which request a key stands for, and what it made.

use link_protocol::id::AccountId;

use crate::domain::refusal::Refusal;

/// A request that names itself, so that a repetition can be told from a new one.
#[derive(Clone, Debug)]
pub struct Claim {
    pub account: AccountId,
    pub key: String,
    /// What the request asks for; another wish under the same key is a conflict.
    pub fingerprint: String,
}

/// What is remembered of a request that named itself.
#[derive(Clone, Debug)]
pub struct Claimed {
    pub fingerprint: String,
    /// The id of what the request made.
    pub reference: String,
}

impl Claim {
    /// Returns the id that the same request made `before`.
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
