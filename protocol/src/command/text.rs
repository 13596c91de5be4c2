//! Types of texts in commands, whose values are always valid.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, de};

/// The name under which a model is served: 1 to 64 of `a-z`, `0-9`, `.`, `_` and `-`.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize, utoipa::ToSchema)]
#[schema(value_type = String, pattern = "^[a-z0-9][a-z0-9._-]{0,63}$")]
pub struct Alias(String);

/// The text is not an alias.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "an alias must have 1 to 64 of a-z, 0-9, `.`, `_` and `-`, and start with a letter or digit"
)]
pub struct InvalidAlias;

impl Alias {
    /// Returns the alias.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Alias {
    type Err = InvalidAlias;

    fn from_str(text: &str) -> Result<Self, InvalidAlias> {
        let letter = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
        let fits = (1..=64).contains(&text.len())
            && text.bytes().all(|b| letter(b) || b".-_".contains(&b))
            && text.bytes().next().is_some_and(letter);
        if fits { Ok(Self(text.to_owned())) } else { Err(InvalidAlias) }
    }
}

impl fmt::Display for Alias {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Alias {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

/// A SHA-256 as 64 lower-case hexadecimal digits.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize, utoipa::ToSchema)]
#[schema(value_type = String, pattern = "^[0-9a-f]{64}$")]
pub struct Sha256Hex(String);

/// The text is not a SHA-256.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("a SHA-256 has 64 lower-case hexadecimal digits")]
pub struct InvalidSha256;

impl Sha256Hex {
    /// Writes `digest` in hexadecimal.
    #[must_use]
    pub fn from_digest(digest: &[u8]) -> Self {
        use fmt::Write as _;

        Self(digest.iter().fold(String::with_capacity(64), |mut text, byte| {
            write!(text, "{byte:02x}").expect("writing to a string cannot fail");
            text
        }))
    }

    /// Returns the digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Sha256Hex {
    type Err = InvalidSha256;

    fn from_str(text: &str) -> Result<Self, InvalidSha256> {
        let digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        if text.len() == 64 && text.bytes().all(digit) {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidSha256)
        }
    }
}

impl fmt::Display for Sha256Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Sha256Hex {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}
