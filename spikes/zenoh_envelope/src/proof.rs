//! What a device proves beside a body, so that a router cannot forge its messages.
//!
//! Over HTTP the device's token stands in a header and the body says nothing of it; here a
//! signature by the device's key stands in zenoh's attachment. It covers the key expression, so a
//! body is not good for another slot or another kind of message.

use link_protocol::signing::{SigningKey, Untrusted, VerifyingKey};
use zenoh::bytes::ZBytes;

/// Returns the proof for `body` on `key_expression`.
pub(crate) fn prove(key: &SigningKey, key_expression: &str, body: &[u8]) -> String {
    key.sign(&message(key_expression, body))
}

/// Verifies the proof that came as an attachment.
///
/// # Errors
/// [`Untrusted::BadSignature`] when there is none or it does not fit.
pub(crate) fn verify(
    key: &VerifyingKey,
    key_expression: &str,
    body: &[u8],
    proof: Option<&ZBytes>,
) -> Result<(), Untrusted> {
    let proof = proof.and_then(|proof| proof.try_to_string().ok());
    let proof = proof.ok_or(Untrusted::BadSignature)?;
    key.verify(&message(key_expression, body), &proof)
}

fn message(key_expression: &str, body: &[u8]) -> Vec<u8> {
    [key_expression.as_bytes(), b"\n", body].concat()
}
