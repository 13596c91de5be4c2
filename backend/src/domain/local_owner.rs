//! The owner of a single-user backend, with the owner's proof and the one-time codes that a browser sends instead of
//! the proof.
//!
//! Both are stored as digests and compared in constant time. A code is valid once, for [`CODE_LIFETIME`], and only a
//! few codes are valid at the same time.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use subtle::ConstantTimeEq as _;

use crate::domain::refusal::Refusal;

/// The lifetime of a one-time code.
pub const CODE_LIFETIME: Duration = Duration::from_secs(30);
/// The maximum number of valid codes; one more replaces the oldest.
const MOST_CODES: usize = 8;

/// The secrets of an owner.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LocalOwner {
    proof: [u8; 32],
    codes: Vec<Code>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
struct Code {
    digest: [u8; 32],
    expires_at: Timestamp,
}

impl LocalOwner {
    /// Makes the owner whose proof has the digest `proof`.
    #[must_use]
    pub const fn new(proof: [u8; 32]) -> Self {
        Self { proof, codes: Vec::new() }
    }

    /// Checks a proof by its digest.
    ///
    /// # Errors
    /// [`Refusal::OwnerProofInvalid`].
    pub fn check(&self, shown: &[u8; 32]) -> Result<(), Refusal> {
        if bool::from(self.proof.ct_eq(shown)) { Ok(()) } else { Err(Refusal::OwnerProofInvalid) }
    }

    /// Adds the digest of a code that was issued to the owner.
    pub fn add_code(&mut self, digest: [u8; 32], now: Timestamp) {
        self.forget_expired(now);
        if self.codes.len() >= MOST_CODES {
            self.codes.remove(0);
        }
        let lifetime = SignedDuration::try_from(CODE_LIFETIME).unwrap_or_default();
        let expires_at = now.checked_add(lifetime).unwrap_or(Timestamp::MAX);
        self.codes.push(Code { digest, expires_at });
    }

    /// Consumes the code with a digest.
    ///
    /// # Errors
    /// [`Refusal::OneTimeCodeInvalid`] if the code is unknown, was used before or has expired.
    pub fn take_code(&mut self, shown: &[u8; 32], now: Timestamp) -> Result<(), Refusal> {
        self.forget_expired(now);
        let before = self.codes.len();
        self.codes.retain(|code| !bool::from(code.digest.ct_eq(shown)));
        if self.codes.len() < before { Ok(()) } else { Err(Refusal::OneTimeCodeInvalid) }
    }

    fn forget_expired(&mut self, now: Timestamp) {
        self.codes.retain(|code| now < code.expires_at);
    }
}

#[cfg(test)]
mod tests {
    use jiff::ToSpan as _;

    use super::*;

    #[test]
    fn only_the_proof_is_the_proof() {
        let owner = LocalOwner::new([7; 32]);
        assert_eq!(owner.check(&[7; 32]), Ok(()));
        let mut other = [7; 32];
        other[31] = 8;
        assert_eq!(owner.check(&other), Err(Refusal::OwnerProofInvalid));
    }

    #[test]
    fn a_code_is_good_once_and_for_thirty_seconds() {
        let (start, mut owner) = owner();
        owner.add_code([1; 32], start);
        owner.add_code([2; 32], start);
        let invalid = Err(Refusal::OneTimeCodeInvalid);
        assert_eq!(owner.take_code(&[3; 32], start), invalid);
        assert_eq!(owner.take_code(&[1; 32], start + 29.seconds()), Ok(()));
        assert_eq!(owner.take_code(&[1; 32], start + 29.seconds()), invalid);
        assert_eq!(owner.take_code(&[2; 32], start + 30.seconds()), invalid);
    }

    #[test]
    fn the_oldest_code_gives_way_to_one_too_many() {
        let (start, mut owner) = owner();
        for number in 0..=8 {
            owner.add_code([number; 32], start);
        }
        assert_eq!(owner.codes.len(), MOST_CODES);
        assert_eq!(owner.take_code(&[0; 32], start), Err(Refusal::OneTimeCodeInvalid));
        assert_eq!(owner.take_code(&[8; 32], start), Ok(()));
    }

    fn owner() -> (Timestamp, LocalOwner) {
        (Timestamp::from_second(1_790_000_000).unwrap(), LocalOwner::new([9; 32]))
    }
}
