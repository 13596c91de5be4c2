//! The keys that may sign a published document: the release keys with those that they introduce, and further keys.
//!
//! All release keys are one signer, because a newer key continues what an older one began. Each further key is a signer
//! of its own, so that two publishers cannot block or replace each other.

use link_protocol::{
    release::RefusedRelease,
    signing::{Signed, VerifyingKey},
};

use crate::trust::Trust;

/// The name of the release keys as a signer. No key has this id.
pub(crate) const RELEASE: &str = "release";

/// The keys that may sign a document.
#[derive(Clone, Debug)]
pub(crate) struct Signers {
    release: Vec<VerifyingKey>,
    others: Vec<VerifyingKey>,
}

impl Signers {
    /// Returns the release keys of `trust`, those that the `chain` beside the document introduces, and `others`.
    ///
    /// # Errors
    /// If the chain cannot be trusted.
    pub(crate) fn new(
        trust: &Trust,
        chain: &[Signed],
        others: &[VerifyingKey],
    ) -> Result<Self, RefusedRelease> {
        Ok(Self { release: trust.with(chain)?, others: others.to_vec() })
    }

    /// Returns all keys.
    pub(crate) fn keys(&self) -> Vec<VerifyingKey> {
        self.release.iter().chain(&self.others).cloned().collect()
    }

    /// Returns the signer that `file` names, without verification: the id of a key, or [`RELEASE`].
    pub(crate) fn claimed_by(&self, file: &[u8]) -> String {
        let kid = serde_json::from_slice::<Signed>(file).map(|signed| signed.kid);
        let kid = kid.unwrap_or_default();
        match self.release.iter().any(|key| key.kid == kid) {
            true => RELEASE.to_owned(),
            false => kid,
        }
    }
}
