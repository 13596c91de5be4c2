//! Retire codes: an uninstallation prints one if the backend is unreachable.
//!
//! A code has a prefix, a statement of 32 bytes (device, epoch, time), the device's signature and a
//! checksum. The signed text begins with its own kind, so it cannot be confused with any other text
//! that the device signs. The code lets anybody remove the device and free its slot in the device
//! limit, and nothing else.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use jiff::Timestamp;
use serde::{Deserialize, Serialize, Serializer};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::{
    counter::Epoch,
    id::DeviceId,
    secret::Secret,
    signing::{SigningKey, Untrusted, VerifyingKey},
};

/// The path to which a retire code is posted.
pub const RETIRE_PATH: &str = "/api/v1/devices/retire";

/// The length of a code, in characters: 4 for the prefix, 43 for the statement, 86 for the
/// signature, 6 for the checksum.
pub const RETIRE_CODE_LENGTH: usize = 139;

/// The first characters of every retire code.
pub const PREFIX: &str = "lrc_";
const STATEMENT_END: usize = 47;
const SIGNATURE_END: usize = 133;

/// Body of `POST` [`RETIRE_PATH`].
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RetireRequest {
    /// The code that `link uninstall --force` printed. White space is ignored.
    pub retire_code: Secret,
}

/// A well-formed retire code. Its signature is not verified yet. `Debug` does not show it.
#[derive(Clone, Eq, PartialEq)]
pub struct RetireCode {
    text: String,
    device: DeviceId,
    epoch: Epoch,
    issued_at: i64,
}

/// The text is not a retire code.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum InvalidRetireCode {
    /// The text does not start with `lrc_`.
    #[error("a retire code starts with `{PREFIX}`")]
    Prefix,
    /// The text has the wrong length.
    #[error("the code is incomplete: expected {RETIRE_CODE_LENGTH} characters, got {0}")]
    Length(usize),
    /// The checksum does not match: a character was mistyped.
    #[error("the code is mistyped: its checksum does not fit")]
    Checksum,
    /// The checksum matches, but the text contains no statement.
    #[error("the code is of a form that this version does not know")]
    Form,
}

impl RetireCode {
    /// Creates the code that removes `device`, signed with the device's `key`.
    #[must_use]
    pub fn sign(key: &SigningKey, device: DeviceId, epoch: Epoch, issued_at: Timestamp) -> Self {
        let issued_at = issued_at.as_second();
        let mut statement = [0; 32];
        statement[..16].copy_from_slice(device.uuid().as_bytes());
        statement[16..24].copy_from_slice(&epoch.0.to_be_bytes());
        statement[24..].copy_from_slice(&issued_at.to_be_bytes());
        let signature = key.sign(&signed_text(device, epoch, issued_at));
        let mut text = format!("{PREFIX}{}{signature}", URL_SAFE_NO_PAD.encode(statement));
        let checksum = checksum(&text);
        text.push_str(&checksum);
        Self { text, device, epoch, issued_at }
    }

    /// Parses a code. White space is ignored, because terminals break long lines.
    ///
    /// # Errors
    /// [`InvalidRetireCode`]. The error does not repeat the text.
    pub fn parse(text: &str) -> Result<Self, InvalidRetireCode> {
        let text: String = text.chars().filter(|character| !character.is_whitespace()).collect();
        if !text.starts_with(PREFIX) {
            return Err(InvalidRetireCode::Prefix);
        }
        if text.len() != RETIRE_CODE_LENGTH || !text.is_ascii() {
            return Err(InvalidRetireCode::Length(text.chars().count()));
        }
        let (body, sum) = text.split_at(SIGNATURE_END);
        if checksum(body) != sum {
            return Err(InvalidRetireCode::Checksum);
        }
        let (device, epoch, issued_at) =
            statement(&body[PREFIX.len()..STATEMENT_END]).ok_or(InvalidRetireCode::Form)?;
        Ok(Self { text, device, epoch, issued_at })
    }

    /// Returns the device to remove.
    #[must_use]
    pub const fn device(&self) -> DeviceId {
        self.device
    }

    /// Returns the epoch of the registration to end. A newer registration is not affected.
    #[must_use]
    pub const fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Returns the code itself, for the person or for the request that must send it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.text
    }

    /// Verifies that the device with the public `key` signed the code.
    ///
    /// # Errors
    /// [`Untrusted::BadSignature`] when it did not.
    pub fn verify(&self, key: &VerifyingKey) -> Result<(), Untrusted> {
        let text = signed_text(self.device, self.epoch, self.issued_at);
        key.verify(&text, &self.text[STATEMENT_END..SIGNATURE_END])
    }
}

impl From<&RetireCode> for RetireRequest {
    fn from(code: &RetireCode) -> Self {
        Self { retire_code: Secret::new(code.expose()) }
    }
}

impl fmt::Debug for RetireCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}*** of {}", self.device)
    }
}

impl Serialize for RetireCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

fn statement(text: &str) -> Option<(DeviceId, Epoch, i64)> {
    let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
    let (device, rest) = bytes.split_first_chunk()?;
    let (epoch, rest) = rest.split_first_chunk()?;
    let issued_at = i64::from_be_bytes(rest.try_into().ok()?);
    Some((
        DeviceId::from_uuid(Uuid::from_bytes(*device)),
        Epoch(u64::from_be_bytes(*epoch)),
        issued_at,
    ))
}

fn signed_text(device: DeviceId, epoch: Epoch, issued_at: i64) -> Vec<u8> {
    format!("link retirement v1\n{device}\n{epoch}\n{issued_at}").into_bytes()
}

fn checksum(body: &str) -> String {
    let digest = Sha256::digest(body.as_bytes());
    let mut text = URL_SAFE_NO_PAD.encode(&digest[..5]);
    text.truncate(RETIRE_CODE_LENGTH - SIGNATURE_END);
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::registration::proof_statement;

    #[test]
    fn a_code_reads_back_and_its_device_has_signed_it() {
        let code = code();
        assert_eq!(code.expose().len(), RETIRE_CODE_LENGTH);
        let read = RetireCode::parse(code.expose()).unwrap();
        assert_eq!((&read, read.device(), read.epoch()), (&code, device(), Epoch(7)));
        assert_eq!(read.verify(key(1).verifying()), Ok(()));
        assert_eq!(read.verify(key(2).verifying()), Err(Untrusted::BadSignature));
    }

    #[test]
    fn a_code_that_a_mail_has_broken_into_lines_is_still_one() {
        let broken: Vec<_> = code()
            .expose()
            .as_bytes()
            .chunks(40)
            .map(|line| str::from_utf8(line).unwrap().to_owned())
            .collect();
        assert_eq!(RetireCode::parse(&format!(" {}\r\n", broken.join("\r\n  "))), Ok(code()));
    }

    #[test]
    fn each_part_of_the_statement_is_signed() {
        let text = code().expose().to_owned();
        for byte in [0, 20, 31] {
            let mut statement = URL_SAFE_NO_PAD.decode(&text[PREFIX.len()..STATEMENT_END]).unwrap();
            statement[byte] ^= 1;
            let statement = URL_SAFE_NO_PAD.encode(statement);
            let altered = with_checksum(&statement, &text[STATEMENT_END..SIGNATURE_END]);
            let read = RetireCode::parse(&altered).unwrap();
            assert_eq!(read.verify(key(1).verifying()), Err(Untrusted::BadSignature), "{byte}");
        }
    }

    #[test]
    fn no_other_text_that_a_device_signs_is_a_code_and_a_code_is_none_of_them() {
        let (key, now) = (key(1), Timestamp::from_second(1_790_000_000).unwrap());
        let statement = &code().expose()[PREFIX.len()..STATEMENT_END].to_owned();
        let proof = proof_statement(device(), key.verifying(), now);
        for signature in [key.sign(&proof), key.seal_text("{}".to_owned()).signature] {
            let read = RetireCode::parse(&with_checksum(statement, &signature)).unwrap();
            assert_eq!(read.verify(key.verifying()), Err(Untrusted::BadSignature));
        }
        let signature = &code().expose()[STATEMENT_END..SIGNATURE_END].to_owned();
        assert_eq!(key.verifying().verify(&proof, signature), Err(Untrusted::BadSignature));
    }

    #[test]
    fn what_is_no_code_says_what_is_wrong() {
        let text = code().expose().to_owned();
        for (bad, why) in [
            ("", InvalidRetireCode::Prefix),
            ("lrk_", InvalidRetireCode::Prefix),
            (&text[..60], InvalidRetireCode::Length(60)),
            (&format!("{text}A"), InvalidRetireCode::Length(140)),
            (&with_checksum(&"!".repeat(43), &"A".repeat(86)), InvalidRetireCode::Form),
        ] {
            assert_eq!(RetireCode::parse(bad), Err(why), "{bad}");
        }
    }

    #[test]
    fn debug_does_not_show_the_code() {
        assert_eq!(format!("{:?}", code()), format!("lrc_*** of {}", device()));
    }

    proptest! {
        #[test]
        fn every_altered_character_is_refused(place in 0..RETIRE_CODE_LENGTH, other: char) {
            let mut characters: Vec<char> = code().expose().chars().collect();
            prop_assume!(characters[place] != other);
            characters[place] = other;
            let altered: String = characters.into_iter().collect();
            prop_assert!(RetireCode::parse(&altered).is_err());
        }

        #[test]
        fn every_two_characters_that_changed_places_are_refused(
            one in 0..RETIRE_CODE_LENGTH, other in 0..RETIRE_CODE_LENGTH,
        ) {
            let mut bytes = code().expose().as_bytes().to_vec();
            prop_assume!(bytes[one] != bytes[other]);
            bytes.swap(one, other);
            prop_assert!(RetireCode::parse(str::from_utf8(&bytes).unwrap()).is_err());
        }

        #[test]
        fn no_text_makes_it_panic(text: String) {
            let _read = RetireCode::parse(&text);
            let _read = RetireCode::parse(&format!("lrc_{text}"));
        }
    }

    fn code() -> RetireCode {
        let now = Timestamp::from_second(1_790_000_000).unwrap();
        RetireCode::sign(&key(1), device(), Epoch(7), now)
    }

    fn key(seed: u8) -> SigningKey {
        SigningKey::from_seed(&[seed; 32])
    }

    fn device() -> DeviceId {
        "dev_0198f6c0a0b07c3e8d2f4a5b6c7d8e9f".parse().unwrap()
    }

    fn with_checksum(statement: &str, signature: &str) -> String {
        let body = format!("{PREFIX}{statement}{signature}");
        format!("{body}{}", checksum(&body))
    }
}
