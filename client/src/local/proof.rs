//! The proof of a listener: the program on a port shows that it knows the control token without
//! sending it.
//!
//! The proof includes the port. A program on another port therefore cannot pass off the agent's
//! answer as its own. Pure, except for the random nonce.

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use link_protocol::secret::Secret;
use ring::{
    hmac,
    rand::{SecureRandom as _, SystemRandom},
};

/// The purpose of the digest. It is part of the digest, so that no digest for another purpose can
/// be used as a proof.
const PURPOSE: &str = "link local api";

/// The length of a nonce, in characters.
pub const NONCE_LENGTH: usize = 43;

/// Returns the proof of a listener on `port` for `nonce`.
#[must_use]
pub fn of(token: &Secret, port: u16, nonce: &str) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(hmac::sign(&key(token), &message(port, nonce)))
}

/// Returns whether `proof` comes from a listener on `port` that knows `token`.
pub(super) fn holds(token: &Secret, port: u16, nonce: &str, proof: &str) -> bool {
    let Ok(proof) = BASE64_URL_SAFE_NO_PAD.decode(proof) else { return false };
    hmac::verify(&key(token), &message(port, nonce), &proof).is_ok()
}

/// Creates a random nonce. The system's random source never fails in a running program.
#[must_use]
pub fn nonce() -> String {
    let mut bytes = [0; 32];
    SystemRandom::new().fill(&mut bytes).expect("the system gives random bytes");
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

fn key(token: &Secret) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, token.expose().as_bytes())
}

fn message(port: u16, nonce: &str) -> Vec<u8> {
    format!("{PURPOSE}\0{port}\0{nonce}").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_counts_for_one_token_one_port_and_one_nonce() {
        let (token, nonce) = (Secret::new("token"), nonce());
        assert_eq!(nonce.len(), NONCE_LENGTH);
        let proof = of(&token, 20505, &nonce);
        assert!(holds(&token, 20505, &nonce, &proof));
        assert!(!holds(&token, 20506, &nonce, &proof), "passed on from another port");
        assert!(!holds(&Secret::new("other"), 20505, &nonce, &proof));
        assert!(!holds(&token, 20505, &super::nonce(), &proof));
        for wrong in ["", "?", &proof[1..]] {
            assert!(!holds(&token, 20505, &nonce, wrong), "{wrong}");
        }
    }
}
