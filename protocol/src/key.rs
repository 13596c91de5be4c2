//! Registration and fleet keys: a prefix, 256 random bits, a checksum.
//!
//! The checksum reveals a mistyped key before any request is sent. The prefix lets secret scanners
//! find a leaked key. The backend stores only the SHA-256 of the whole text.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest as _, Sha256};

/// The kind of a key: how many devices it registers.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum KeyKind {
    /// One device (`lrk_`). Only the device that it registered can use the key again.
    Registration,
    /// Many devices (`lfk_`).
    Fleet,
}

impl KeyKind {
    /// Returns the first characters of every key of this kind.
    #[must_use]
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Registration => "lrk_",
            Self::Fleet => "lfk_",
        }
    }
}

/// A registration or fleet key. `Debug` hides the secret.
#[derive(Clone, Eq, PartialEq, utoipa::ToSchema)]
#[schema(value_type = String)]
pub struct EnrolmentKey(String);

/// The text is not a key.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum InvalidKey {
    /// It starts with neither `lrk_` nor `lfk_`.
    #[error("a registration key starts with `lrk_` and a fleet key with `lfk_`")]
    Prefix,
    /// The text has the wrong length.
    #[error("the key is incomplete: expected {KEY_LENGTH} characters, got {0}")]
    Length(usize),
    /// The checksum does not match: a character was mistyped.
    #[error("the key is mistyped: its checksum does not fit")]
    Checksum,
}

/// The length of a key, in characters: 4 for the prefix, 43 for the secret, 6 for the checksum.
pub const KEY_LENGTH: usize = 53;

pub(crate) const SECRET_END: usize = 47;

impl EnrolmentKey {
    /// Creates the key that contains `secret`.
    #[must_use]
    pub fn from_secret(kind: KeyKind, secret: [u8; 32]) -> Self {
        let mut text = format!("{}{}", kind.prefix(), URL_SAFE_NO_PAD.encode(secret));
        let checksum = checksum(&text);
        text.push_str(&checksum);
        Self(text)
    }

    /// Parses a key.
    ///
    /// # Errors
    /// [`InvalidKey`] if the prefix, the length or the checksum is wrong. The error does not repeat
    /// the text.
    pub fn parse(text: &str) -> Result<Self, InvalidKey> {
        if !text.starts_with(KeyKind::Registration.prefix())
            && !text.starts_with(KeyKind::Fleet.prefix())
        {
            return Err(InvalidKey::Prefix);
        }
        if text.len() != KEY_LENGTH || !text.is_ascii() {
            return Err(InvalidKey::Length(text.chars().count()));
        }
        let (body, sum) = text.split_at(SECRET_END);
        if checksum(body) != sum {
            return Err(InvalidKey::Checksum);
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the kind of the key.
    #[must_use]
    pub fn kind(&self) -> KeyKind {
        if self.0.starts_with(KeyKind::Fleet.prefix()) {
            KeyKind::Fleet
        } else {
            KeyKind::Registration
        }
    }

    /// Returns the key itself, for the one request that must send it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns the SHA-256 of the key. The backend stores the key only in this form.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        Sha256::digest(self.0.as_bytes()).into()
    }
}

impl fmt::Debug for EnrolmentKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}***", self.kind().prefix())
    }
}

impl Serialize for EnrolmentKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for EnrolmentKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        Self::parse(&text).map_err(de::Error::custom)
    }
}

/// Returns the checksum of `body`.
pub(crate) fn checksum(body: &str) -> String {
    let digest = Sha256::digest(body.as_bytes());
    let mut text = URL_SAFE_NO_PAD.encode(&digest[..5]);
    text.truncate(KEY_LENGTH - SECRET_END);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_reads_back_and_tells_its_kind() {
        for kind in [KeyKind::Registration, KeyKind::Fleet] {
            let key = EnrolmentKey::from_secret(kind, [7; 32]);
            assert_eq!(key.expose().len(), KEY_LENGTH);
            assert_eq!(EnrolmentKey::parse(key.expose()).unwrap(), key);
            assert_eq!(key.kind(), kind);
        }
    }

    #[test]
    fn every_single_mistyped_character_is_found() {
        let key = EnrolmentKey::from_secret(KeyKind::Fleet, [9; 32]);
        for place in 4..KEY_LENGTH {
            let mut bytes = key.expose().as_bytes().to_vec();
            bytes[place] = if bytes[place] == b'x' { b'y' } else { b'x' };
            let text = String::from_utf8(bytes).unwrap();
            assert_eq!(EnrolmentKey::parse(&text), Err(InvalidKey::Checksum), "{place}");
        }
    }

    #[test]
    fn debug_does_not_show_the_secret() {
        let key = EnrolmentKey::from_secret(KeyKind::Registration, [9; 32]);
        assert_eq!(format!("{key:?}"), "lrk_***");
    }
}
