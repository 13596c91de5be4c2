//! Personal access tokens: a prefix, 256 random bits and a checksum, like the keys of devices.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest as _, Sha256};

use crate::key::{KEY_LENGTH, SECRET_END, checksum};

/// The first characters of every personal access token.
pub const PREFIX: &str = "lpt_";

/// A personal access token. `Debug` hides the secret.
#[derive(Clone, Eq, PartialEq, utoipa::ToSchema)]
#[schema(value_type = String)]
pub struct PersonalToken(String);

/// The text is not a personal access token. The error does not repeat the text.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the token is mistyped or incomplete: expected `lpt_` and {rest} more characters", rest = KEY_LENGTH - 4)]
pub struct InvalidToken;

impl PersonalToken {
    /// Creates the token that contains `secret`.
    #[must_use]
    pub fn from_secret(secret: [u8; 32]) -> Self {
        let mut text = format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(secret));
        let sum = checksum(&text);
        text.push_str(&sum);
        Self(text)
    }

    /// Parses a token.
    ///
    /// # Errors
    /// [`InvalidToken`] if the prefix, the length or the checksum is wrong.
    pub fn parse(text: &str) -> Result<Self, InvalidToken> {
        if !text.starts_with(PREFIX) || text.len() != KEY_LENGTH || !text.is_ascii() {
            return Err(InvalidToken);
        }
        let (body, sum) = text.split_at(SECRET_END);
        if checksum(body) == sum { Ok(Self(text.to_owned())) } else { Err(InvalidToken) }
    }

    /// Returns the token itself, for the request that must send it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns the SHA-256 of the token. The backend stores the token only in this form.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        Sha256::digest(self.0.as_bytes()).into()
    }
}

impl fmt::Debug for PersonalToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}***")
    }
}

impl Serialize for PersonalToken {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for PersonalToken {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        Self::parse(&text).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_reads_back_and_a_mistyped_one_is_refused_without_being_shown() {
        let token = PersonalToken::from_secret([7; 32]);
        assert_eq!(PersonalToken::parse(token.expose()), Ok(token.clone()));
        assert_eq!(format!("{token:?}"), "lpt_***");
        let mistyped = token.expose().replace("Bwc", "Bwd");
        assert_eq!(PersonalToken::parse(&mistyped), Err(InvalidToken));
        assert_eq!(PersonalToken::parse("lpt_"), Err(InvalidToken));
        assert!(!InvalidToken.to_string().contains("Bw"));
    }
}
