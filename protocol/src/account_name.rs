//! The name of an account: how other accounts refer to it.
//!
//! No two accounts of a backend have the same name, and the name of an account never changes.
//! `bob/llama` therefore always means the same publisher.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, de};

/// The name of an account: 1 to 40 of `a-z`, `0-9` and `-`.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize, utoipa::ToSchema)]
#[schema(value_type = String, pattern = "^[a-z0-9][a-z0-9-]{0,39}$")]
pub struct AccountName(String);

/// The text is not a valid account name.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "an account's name must have 1 to 40 of a-z, 0-9 and `-`, and start with a letter or digit"
)]
pub struct InvalidAccountName;

impl AccountName {
    /// The longest name, in characters.
    pub const LONGEST: usize = 40;

    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for AccountName {
    type Err = InvalidAccountName;

    fn from_str(text: &str) -> Result<Self, InvalidAccountName> {
        let letter = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
        let fits = (1..=Self::LONGEST).contains(&text.len())
            && text.bytes().all(|b| letter(b) || b == b'-')
            && text.bytes().next().is_some_and(letter);
        if fits { Ok(Self(text.to_owned())) } else { Err(InvalidAccountName) }
    }
}

impl fmt::Display for AccountName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for AccountName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_no_slash_and_no_space_and_is_no_id() {
        for good in ["ada", "a", "7-of-9", &"x".repeat(40)] {
            assert_eq!(good.parse::<AccountName>().unwrap().as_str(), good);
        }
        for bad in ["", "-ada", "Ada", "a/b", "a b", "a.b", "acc_1", "é", &"x".repeat(41)] {
            assert_eq!(bad.parse::<AccountName>(), Err(InvalidAccountName), "{bad}");
        }
    }
}
