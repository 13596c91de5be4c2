//! The handover: a signed statement of the backend that a device now belongs to another account.
//!
//! The device deletes the models and commands of its former account and begins the next epoch. The
//! statement is signed with the key that signs commands. The signed text contains its kind, so it
//! cannot be confused with any other text that the backend signs.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    counter::Epoch,
    id::DeviceId,
    signing::{Signed, SigningKey, Untrusted, VerifyingKey},
};

/// The statement in the backend's answer to a hello from an epoch that a transfer has ended.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Handover {
    kind: Kind,
    pub device_id: DeviceId,
    /// The new epoch.
    pub to_epoch: Epoch,
    pub issued_at: Timestamp,
}

/// Distinguishes the statement from all other signed texts.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
enum Kind {
    #[serde(rename = "link handover v1")]
    V1,
}

/// The text is not a handover of this backend.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum NotAHandover {
    #[error(transparent)]
    Untrusted(#[from] Untrusted),
    /// The text has a valid signature but is something else.
    #[error("the signed text is not a handover of a known version")]
    Form,
}

impl Handover {
    /// Creates the statement that `device_id` begins `to_epoch`.
    #[must_use]
    pub const fn new(device_id: DeviceId, to_epoch: Epoch, issued_at: Timestamp) -> Self {
        Self { kind: Kind::V1, device_id, to_epoch, issued_at }
    }

    /// Signs the statement.
    ///
    /// # Panics
    /// Never: a handover has only string keys.
    #[must_use]
    pub fn seal(&self, key: &SigningKey) -> Signed {
        key.seal_text(serde_json::to_string(self).expect("a handover has only string keys"))
    }

    /// Verifies that one of the `pinned` keys signed the statement, and reads it.
    ///
    /// # Errors
    /// [`NotAHandover`] if the signature is invalid or the text is something else.
    pub fn open(signed: &Signed, pinned: &[VerifyingKey]) -> Result<Self, NotAHandover> {
        let text = signed.verify(pinned)?;
        serde_json::from_str(text).map_err(|_| NotAHandover::Form)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counter::Seq;
    use crate::{command::Lane, envelope::Envelope};

    #[test]
    fn a_handover_reads_back_for_who_pinned_its_key() {
        let signed = handover().seal(&key(1));
        assert_eq!(Handover::open(&signed, &[key(1).verifying().clone()]), Ok(handover()));
        let unknown = Err(NotAHandover::Untrusted(Untrusted::UnknownKey));
        assert_eq!(Handover::open(&signed, &[key(2).verifying().clone()]), unknown);
    }

    #[test]
    fn each_part_of_the_statement_is_signed() {
        let signed = handover().seal(&key(1));
        for (part, other) in
            [("e9f", "e90"), ("\"to_epoch\":2", "\"to_epoch\":3"), ("2026", "2027")]
        {
            let envelope = signed.envelope.replace(part, other);
            assert_ne!(envelope, signed.envelope, "{part}");
            let altered = Signed { envelope, ..signed.clone() };
            let refused = Handover::open(&altered, &[key(1).verifying().clone()]);
            assert_eq!(refused, Err(NotAHandover::Untrusted(Untrusted::BadSignature)), "{part}");
        }
    }

    #[test]
    fn no_other_text_that_a_backend_signs_is_a_handover_and_a_handover_is_none_of_them() {
        let (key, pinned) = (key(1), [key(1).verifying().clone()]);
        let handover = handover();
        let next_version = handover.seal(&key).envelope.replace("v1", "v2");
        let without_kind = handover.seal(&key).envelope.replace("\"kind\"", "\"sort\"");
        let command = serde_json::to_string(&envelope()).unwrap();
        for other in [next_version, without_kind, command, "{}".to_owned()] {
            let opened = Handover::open(&key.seal_text(other.clone()), &pinned);
            assert_eq!(opened, Err(NotAHandover::Form), "{other}");
        }
        let as_command = handover.seal(&key).open(&pinned);
        assert_eq!(as_command, Err(Untrusted::NotAnEnvelope));
    }

    fn handover() -> Handover {
        let device = "dev_0198f6c0a0b07c3e8d2f4a5b6c7d8e9f".parse().unwrap();
        Handover::new(device, Epoch(2), Timestamp::from_second(1_790_000_000).unwrap())
    }

    fn envelope() -> Envelope {
        let Handover { device_id, to_epoch, issued_at, .. } = handover();
        Envelope {
            v: crate::envelope::ENVELOPE_VERSION,
            command_id: format!("cmd_{:032x}", 1).parse().unwrap(),
            device_id,
            epoch: to_epoch,
            seq: Seq(1),
            r#type: "UPDATE_AGENT".to_owned(),
            lane: Lane::Control,
            idempotency_key: "one".to_owned(),
            attempt: 1,
            issued_at,
            expires_at: issued_at,
            ttl_ms: 1,
            exec_deadline_s: 1,
            payload: serde_json::value::RawValue::from_string("{}".to_owned()).unwrap(),
        }
    }

    fn key(seed: u8) -> SigningKey {
        SigningKey::from_seed(&[seed; 32])
    }
}
