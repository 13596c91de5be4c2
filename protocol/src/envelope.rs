//! The envelope around a command, the same on every transport.
//!
//! The backend's database is the only durable queue: a command is stored, then delivered with a growing attempt number
//! until the device has stored and acknowledged it. Delivery is at least once; the effect is applied once.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    command::{Command, Lane},
    counter::{Epoch, Seq},
    id::{CommandId, DeviceId},
    report::CommandReport,
    signing::{Signed, SigningKey, Untrusted, VerifyingKey},
};

/// The version of the envelope that this code writes and reads.
pub const ENVELOPE_VERSION: u32 = 1;

/// One delivery of a command to one device.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Envelope {
    pub v: u32,
    pub command_id: CommandId,
    pub device_id: DeviceId,
    /// The epoch, which changes at each registration. An envelope of another epoch has no effect.
    pub epoch: Epoch,
    /// The sequence number, without gaps for each device, starting at 1.
    pub seq: Seq,
    /// The type's name on the wire: a type of [`Command`], unless the versions of backend and device differ.
    pub r#type: String,
    pub lane: Lane,
    /// Commands with the same key are the same request.
    pub idempotency_key: String,
    /// The number of the delivery, starting at 1.
    pub attempt: u32,
    pub issued_at: Timestamp,
    pub expires_at: Timestamp,
    /// Milliseconds from the sending of the envelope until `expires_at`, so that the device's clock does not matter.
    pub ttl_ms: u64,
    /// Seconds that the device may take after its acknowledgement.
    pub exec_deadline_s: u64,
    /// The payload. It remains the signed text until it is parsed.
    pub payload: Box<RawValue>,
}

/// A command's type or payload violates the contract. The error contains no details, because the payload must not be
/// echoed (specification, sections 6 and 7).
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("Invalid command payload")]
pub enum InvalidCommand {
    /// The type is unknown, or the payload does not fit it: the command has failed.
    Malformed,
    /// The payload fits its type but contradicts itself: the command is rejected.
    Mismatched,
    /// The name of the model's file leads out of its folder: the command is rejected.
    UnsafeFileName,
}

/// The member with the name of a model's file.
const FILE_NAME: &str = "payload.model.file_name";

/// Removed types and their replacements (specification, section 9).
const REMOVED: [(&str, &str); 1] = [("REMOVE_MODEL", "UNINSTALL_MODEL")];

/// The fault of a command: its type and the field, without any content. It is only for the device's own log, and is
/// neither reported nor sent as a log record.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CommandFault {
    /// The type, or a placeholder if the text cannot be a type.
    pub kind: String,
    /// The field, by its name in the contract.
    pub field: String,
}

impl Envelope {
    /// Returns the fault that [`Envelope::command`] found.
    #[must_use]
    pub fn fault(&self) -> CommandFault {
        let is_name = |text: &str| {
            (1..=40).contains(&text.len())
                && text.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
        };
        let kind = if is_name(&self.r#type) { self.r#type.as_str() } else { "no name of a type" };
        let field = match self.parse() {
            Err(error) => {
                let path = error.path().to_string();
                match error.into_inner().to_string() {
                    // The name comes from the contract, not from the payload.
                    text if text.starts_with("missing field `") => {
                        let name = text.split('`').nth(1).unwrap_or_default();
                        format!("{path}: `{name}` is missing")
                    }
                    text if text.starts_with("unknown variant") => {
                        let removed = REMOVED.iter().find(|(removed, _)| *removed == self.r#type);
                        match removed {
                            Some((_, instead)) => format!("type: removed, `{instead}` replaces it"),
                            None => "type or a word: none of the contract".to_owned(),
                        }
                    }
                    _ => format!("{path}: not what the contract says"),
                }
            }
            Ok(command) if command.lane() != self.lane => {
                "lane: not the one of the type".to_owned()
            }
            Ok(_) => "payload: identifiers that are written twice differ".to_owned(),
        };
        CommandFault { kind: kind.to_owned(), field }
    }

    fn parse(&self) -> Result<Command, serde_path_to_error::Error<serde_json::Error>> {
        #[derive(Serialize)]
        struct Tagged<'a> {
            r#type: &'a str,
            payload: &'a RawValue,
        }
        let tagged = Tagged { r#type: &self.r#type, payload: &self.payload };
        // A value that was read from JSON can always be written as JSON.
        let text = serde_json::to_string(&tagged).unwrap_or_default();
        serde_path_to_error::deserialize(&mut serde_json::Deserializer::from_str(&text))
    }

    /// Returns whether the name of the model's file is a text: if it cannot be read all the same, it is unsafe.
    fn names_a_file(&self) -> bool {
        serde_json::from_str::<serde_json::Value>(self.payload.get())
            .is_ok_and(|payload| payload["model"]["file_name"].is_string())
    }

    /// Reads the payload by its type.
    ///
    /// # Errors
    /// [`InvalidCommand`] if the type is unknown, the payload does not fit its type, repeated identifiers differ, or
    /// the lane is not the command's.
    pub fn command(&self) -> Result<Command, InvalidCommand> {
        let command = self.parse().map_err(|error| {
            if error.path().to_string() == FILE_NAME && self.names_a_file() {
                InvalidCommand::UnsafeFileName
            } else {
                InvalidCommand::Malformed
            }
        })?;
        if command.lane() != self.lane {
            return Err(InvalidCommand::Malformed);
        }
        if command.identifiers_match() { Ok(command) } else { Err(InvalidCommand::Mismatched) }
    }
}

impl PartialEq for Envelope {
    fn eq(&self, other: &Self) -> bool {
        serde_json::to_string(self).ok() == serde_json::to_string(other).ok()
    }
}

impl SigningKey {
    /// Serialises and signs `envelope`.
    #[must_use]
    pub fn seal(&self, envelope: &Envelope) -> Signed {
        self.seal_text(serde_json::to_string(envelope).expect("an envelope has only string keys"))
    }
}

impl Signed {
    /// Verifies the signature by one of the `pinned` keys, then reads the envelope.
    ///
    /// # Errors
    /// [`Untrusted`] if the key is unknown, the signature does not match or the text is not an envelope.
    pub fn open(&self, pinned: &[VerifyingKey]) -> Result<Envelope, Untrusted> {
        let text = self.verify(pinned)?;
        let envelope: Envelope =
            serde_json::from_str(text).map_err(|_| Untrusted::NotAnEnvelope)?;
        if envelope.v == ENVELOPE_VERSION { Ok(envelope) } else { Err(Untrusted::NotAnEnvelope) }
    }
}

/// The answer of a device to a delivery, once the command is on its disk.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Receipt {
    pub command_id: CommandId,
    /// The number of the delivery that this receipt answers.
    pub attempt: u32,
    pub receipt: ReceiptKind,
    /// The result, if the command is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<CommandReport>,
}

/// The effect of a delivery on a device.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReceiptKind {
    /// Written to the journal by this delivery.
    Stored,
    /// Already in the journal, but not done.
    Duplicate,
    /// Already done. The receipt repeats the result.
    Done,
    /// Expired before it arrived. The command has no effect.
    Expired,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signed_text_is_refused_when_unknown_changed_or_no_envelope() {
        let key = SigningKey::from_seed(&[1; 32]);
        let pinned = [key.verifying().clone()];
        let signed = |text: &str| Signed {
            kid: key.verifying().kid.clone(),
            signature: key.sign(text.as_bytes()),
            envelope: text.to_owned(),
        };
        assert_eq!(signed("{}").open(&pinned), Err(Untrusted::NotAnEnvelope));
        assert_eq!(signed("{}").open(&[]), Err(Untrusted::UnknownKey));
        let changed = Signed { envelope: "{ }".to_owned(), ..signed("{}") };
        assert_eq!(changed.open(&pinned), Err(Untrusted::BadSignature));
    }
}
