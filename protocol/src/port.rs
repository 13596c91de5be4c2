//! Serving ports.

use std::{fmt, num::NonZeroU16, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, de};

/// The TCP port on which a model is served: 1 to 65535 (specification, section 8).
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize, utoipa::ToSchema)]
#[schema(value_type = u16, minimum = 1, maximum = 65535)]
pub struct Port(NonZeroU16);

/// A port was zero, too large or not a number.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("port must be a whole number from 1 to 65535, got `{0}`")]
pub struct InvalidPort(String);

impl Port {
    /// Returns the number, never zero.
    #[must_use]
    pub const fn get(self) -> u16 {
        self.0.get()
    }
}

impl TryFrom<u16> for Port {
    type Error = InvalidPort;

    fn try_from(number: u16) -> Result<Self, InvalidPort> {
        NonZeroU16::new(number).map(Self).ok_or_else(|| InvalidPort(number.to_string()))
    }
}

impl FromStr for Port {
    type Err = InvalidPort;

    fn from_str(text: &str) -> Result<Self, InvalidPort> {
        let digits_only = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = digits_only.then(|| text.parse().ok()).flatten();
        number.map(Self).ok_or_else(|| InvalidPort(text.chars().take(20).collect()))
    }
}

impl<'de> Deserialize<'de> for Port {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = u64::deserialize(deserializer)?;
        let number = u16::try_from(number)
            .map_err(|_| de::Error::custom(InvalidPort(number.to_string())))?;
        Self::try_from(number).map_err(de::Error::custom)
    }
}

impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_the_bounds_and_nothing_outside() {
        assert_eq!("1".parse::<Port>().unwrap().get(), 1);
        assert_eq!("65535".parse::<Port>().unwrap().get(), 65535);
        for bad in ["0", "65536", "-1", "+1", "", "80x", "8 0"] {
            assert_eq!(bad.parse::<Port>(), Err(InvalidPort(bad.to_owned())));
        }
    }

    #[test]
    fn json_is_held_to_the_same_bounds() {
        assert_eq!(serde_json::from_str::<Port>("8080").unwrap().get(), 8080);
        for bad in ["0", "65536", "-1", "\"80\"", "80.5"] {
            assert!(serde_json::from_str::<Port>(bad).is_err(), "{bad}");
        }
    }
}
