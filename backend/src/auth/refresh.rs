//! Refresh tokens. The first token of a login is random. Each later token is derived from its predecessor and a secret
//! of the backend, so an exchange whose answer was lost can be repeated without storing the token itself.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use link_protocol::secret::Secret;
use ring::hmac;

use crate::host::random;

const PREFIX: &str = "lrt_";

/// Issues refresh tokens.
pub struct RefreshTokens {
    key: hmac::Key,
}

impl RefreshTokens {
    /// Derives the secret from `seed`.
    #[must_use]
    pub fn new(seed: &[u8; 32]) -> Self {
        Self { key: hmac::Key::new(hmac::HMAC_SHA256, seed) }
    }

    /// Returns a random first token for a login.
    #[must_use]
    pub fn first() -> Secret {
        random::secret(PREFIX)
    }

    /// Returns the successor of `token`. A token always has the same successor.
    #[must_use]
    pub fn successor(&self, token: &str) -> Secret {
        let tag = hmac::sign(&self.key, token.as_bytes());
        Secret::new(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(tag)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_successor_depends_on_the_token_and_on_the_secret() {
        let (tokens, others) = (RefreshTokens::new(&[1; 32]), RefreshTokens::new(&[2; 32]));
        assert_eq!(tokens.successor("a"), tokens.successor("a"));
        assert_ne!(tokens.successor("a"), tokens.successor("b"));
        assert_ne!(tokens.successor("a"), others.successor("a"));
        assert_eq!(tokens.successor("a").expose().len(), RefreshTokens::first().expose().len());
    }
}
