//! Secrets of the sessions of browsers. The first secret of a cookie is random. Each later secret is derived from its
//! predecessor and a secret of the backend, so that concurrent requests with one secret get the same successor.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use link_protocol::secret::Secret;
use ring::hmac;

use crate::host::random;

const COOKIE_PREFIX: &str = "lcs_";
const PAGE_PREFIX: &str = "lps_";

/// Issues the secrets of sessions.
pub struct SessionSecrets {
    key: hmac::Key,
}

impl SessionSecrets {
    /// Derives the secret of the backend from `seed`.
    #[must_use]
    pub fn new(seed: &[u8; 32]) -> Self {
        Self { key: hmac::Key::new(hmac::HMAC_SHA256, seed) }
    }

    /// Returns a random first secret for a cookie.
    #[must_use]
    pub fn first() -> Secret {
        random::secret(COOKIE_PREFIX)
    }

    /// Returns a random secret for the pages of a session.
    #[must_use]
    pub fn of_pages() -> Secret {
        random::secret(PAGE_PREFIX)
    }

    /// Returns the successor of the secret of a cookie. A secret always has the same successor.
    #[must_use]
    pub fn successor(&self, secret: &str) -> Secret {
        let tag = hmac::sign(&self.key, secret.as_bytes());
        Secret::new(format!("{COOKIE_PREFIX}{}", URL_SAFE_NO_PAD.encode(tag)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_successor_depends_on_the_secret_and_on_the_backend() {
        let (secrets, others) = (SessionSecrets::new(&[1; 32]), SessionSecrets::new(&[2; 32]));
        assert_eq!(secrets.successor("a"), secrets.successor("a"));
        assert_ne!(secrets.successor("a"), secrets.successor("b"));
        assert_ne!(secrets.successor("a"), others.successor("a"));
        assert_ne!(SessionSecrets::first(), SessionSecrets::first());
    }
}
