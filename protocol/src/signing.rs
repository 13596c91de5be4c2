//! Ed25519 signatures over the exact bytes that are sent.
//!
//! The signed text is sent as one string and is verified before it is parsed. Nothing is
//! re-serialised, so no two readers can disagree about the text. A transport is never trusted.

use std::{fmt, str::FromStr};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::id::CommandId;

/// A public Ed25519 key with the id that signatures refer to.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct VerifyingKey {
    /// The first 16 hexadecimal digits of the key's SHA-256.
    pub kid: String,
    /// The 32 bytes of the key in base64url without padding.
    pub public_key: String,
}

/// A key pair for signatures.
pub struct SigningKey {
    pair: Ed25519KeyPair,
    verifying: VerifyingKey,
}

/// A signed text, with its signature and the id of the key.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Signed {
    pub kid: String,
    /// The signature over the bytes of `envelope`, in base64url without padding.
    pub signature: String,
    /// The signed JSON text.
    pub envelope: String,
}

/// A signed text that cannot be trusted.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Untrusted {
    /// The key is not one of the pinned keys.
    #[error("signed with a key that this installation does not trust")]
    UnknownKey,
    /// The signature does not match the text and the key.
    #[error("the signature does not fit")]
    BadSignature,
    /// The text has a valid signature but is not an envelope.
    #[error("the signed text is not an envelope of a known version")]
    NotAnEnvelope,
}

impl Signed {
    /// Returns the id of the command in the text, without verification. Only for telling deliveries
    /// apart before they are opened.
    #[must_use]
    pub fn claimed_command(&self) -> Option<CommandId> {
        #[derive(Deserialize)]
        struct Claim {
            command_id: CommandId,
        }
        serde_json::from_str::<Claim>(&self.envelope).ok().map(|claim| claim.command_id)
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey").field("kid", &self.verifying.kid).finish_non_exhaustive()
    }
}

impl VerifyingKey {
    /// Wraps the 32 bytes of a public key.
    #[must_use]
    pub fn new(public_key: &[u8]) -> Self {
        let digest = Sha256::digest(public_key);
        let kid = digest[..8].iter().map(|byte| format!("{byte:02x}")).collect();
        Self { kid, public_key: URL_SAFE_NO_PAD.encode(public_key) }
    }

    /// Verifies that `signature` (base64url) is a signature of `message` with this key.
    ///
    /// # Errors
    /// [`Untrusted::BadSignature`] otherwise.
    pub fn verify(&self, message: &[u8], signature: &str) -> Result<(), Untrusted> {
        let decode = |text: &str| URL_SAFE_NO_PAD.decode(text).map_err(|_| Untrusted::BadSignature);
        let key = UnparsedPublicKey::new(&ED25519, decode(&self.public_key)?);
        key.verify(message, &decode(signature)?).map_err(|_| Untrusted::BadSignature)
    }
}

/// The text is not a public key. The message never contains the text.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("a public key is 32 bytes in base64url without padding")]
pub struct InvalidKey;

impl FromStr for VerifyingKey {
    type Err = InvalidKey;

    fn from_str(text: &str) -> Result<Self, InvalidKey> {
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| InvalidKey)?;
        if bytes.len() == 32 { Ok(Self::new(&bytes)) } else { Err(InvalidKey) }
    }
}

impl SigningKey {
    /// Derives the key pair from `seed` (32 random bytes).
    #[must_use]
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        let pair = Ed25519KeyPair::from_seed_unchecked(seed).expect("a seed has 32 bytes");
        let verifying = VerifyingKey::new(pair.public_key().as_ref());
        Self { pair, verifying }
    }

    /// Returns the public key.
    #[must_use]
    pub const fn verifying(&self) -> &VerifyingKey {
        &self.verifying
    }

    /// Signs `message`; the signature is in base64url without padding.
    #[must_use]
    pub fn sign(&self, message: &[u8]) -> String {
        URL_SAFE_NO_PAD.encode(self.pair.sign(message).as_ref())
    }

    /// Signs `text`, and returns it together with its signature.
    #[must_use]
    pub fn seal_text(&self, text: String) -> Signed {
        Signed {
            kid: self.verifying.kid.clone(),
            signature: self.sign(text.as_bytes()),
            envelope: text,
        }
    }
}

impl Signed {
    /// Verifies that one of the `pinned` keys signed the text, and returns the text.
    ///
    /// # Errors
    /// [`Untrusted`] if the key is unknown or the signature does not match.
    pub fn verify(&self, pinned: &[VerifyingKey]) -> Result<&str, Untrusted> {
        let key = pinned.iter().find(|key| key.kid == self.kid).ok_or(Untrusted::UnknownKey)?;
        key.verify(self.envelope.as_bytes(), &self.signature)?;
        Ok(&self.envelope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_only_good_for_its_text_and_its_key() {
        let (key, other) = (SigningKey::from_seed(&[1; 32]), SigningKey::from_seed(&[2; 32]));
        let signature = key.sign(b"text");
        assert_eq!(key.verifying().verify(b"text", &signature), Ok(()));
        for (verifier, text) in [(&key, "Text"), (&other, "text")] {
            assert_eq!(
                verifier.verifying().verify(text.as_bytes(), &signature),
                Err(Untrusted::BadSignature)
            );
        }
    }
}
