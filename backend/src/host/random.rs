//! Random numbers: new identifiers, secrets, and the digests of secrets that are stored.

#![expect(clippy::disallowed_methods, reason = "IO shell: makes ids")]

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use link_protocol::secret::Secret;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

/// Returns a new UUID of version 7. Later UUIDs sort after earlier ones.
#[must_use]
pub fn uuid() -> Uuid {
    Uuid::now_v7()
}

/// Returns 256 random bits.
#[must_use]
pub fn bits() -> [u8; 32] {
    rand::random()
}

/// Returns a random number from 0 to 1.
#[must_use]
pub fn part() -> f64 {
    rand::random()
}

/// Returns a new secret: `prefix`, then 256 random bits.
#[must_use]
pub fn secret(prefix: &str) -> Secret {
    Secret::new(format!("{prefix}{}", URL_SAFE_NO_PAD.encode(bits())))
}

/// Returns the digest of a secret, the only form in which secrets are stored.
#[must_use]
pub fn digest(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}
