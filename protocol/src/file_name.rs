//! Names of model files: one plain path component on every operating system.
//!
//! A name is refused if it could lead out of its folder, hide the file, or name a device
//! (specification, section 7: "Model file name unsafe").

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, de};

/// A file name that is safe to join to a folder.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize, utoipa::ToSchema)]
#[schema(value_type = String)]
pub struct FileName(String);

/// A file name is unsafe. The message names the rule, not the name.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum UnsafeFileName {
    /// It is empty or longer than 200 bytes.
    #[error("a file name must have 1 to 200 bytes")]
    Length,
    /// It contains a separator, a control character or a character that Windows reserves.
    #[error(
        "a file name has no `/`, `\\`, `:`, `*`, `?`, `\"`, `<`, `>`, `|` and no control character"
    )]
    Character,
    /// It starts with a dot, or ends with a dot or a space.
    #[error("a file name starts with no dot and no space and ends with neither")]
    Edge,
    /// Windows reserves the name for a device.
    #[error("a file name is not the name of a Windows device such as `CON` or `LPT1`")]
    Reserved,
}

const LONGEST: usize = 200;

const RESERVED: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

impl FileName {
    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for FileName {
    type Err = UnsafeFileName;

    fn from_str(text: &str) -> Result<Self, UnsafeFileName> {
        if text.is_empty() || text.len() > LONGEST {
            return Err(UnsafeFileName::Length);
        }
        if text.chars().any(|c| c.is_control() || "/\\:*?\"<>|".contains(c)) {
            return Err(UnsafeFileName::Character);
        }
        if text.starts_with(['.', ' ']) || text.ends_with(['.', ' ']) {
            return Err(UnsafeFileName::Edge);
        }
        if is_reserved(text) {
            return Err(UnsafeFileName::Reserved);
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for FileName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

fn is_reserved(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).trim_end().to_lowercase();
    if RESERVED.contains(&stem.as_str()) {
        return true;
    }
    let mut characters = stem.chars();
    let number = characters.next_back();
    let device = characters.as_str();
    (device == "com" || device == "lpt")
        && number.is_some_and(|n| n.is_ascii_digit() || "¹²³".contains(n))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn unsafe_names_are_refused_by_their_rule() {
        use UnsafeFileName::{Character, Edge, Length, Reserved};
        for (name, rule) in [
            ("", Length),
            ("../../etc/passwd", Character),
            ("/etc/passwd", Character),
            ("C:\\windows\\x", Character),
            ("a\0b.gguf", Character),
            ("..", Edge),
            (".", Edge),
            (".hidden", Edge),
            ("model.gguf.", Edge),
            ("CON", Reserved),
            ("nul.gguf", Reserved),
            ("Com1.bin", Reserved),
            ("LPT¹", Reserved),
        ] {
            assert_eq!(name.parse::<FileName>(), Err(rule), "{name:?}");
        }
        assert_eq!("a".repeat(201).parse::<FileName>(), Err(Length));
    }

    #[test]
    fn ordinary_names_are_kept_as_they_are() {
        for name in ["tiny.gguf", "SmolLM2-135M Instruct.Q4_1.gguf", "模型.gguf", "console.bin"] {
            assert_eq!(name.parse::<FileName>().unwrap().as_str(), name);
        }
    }

    proptest! {
        #[test]
        fn an_accepted_name_is_one_component_of_a_path(name in "\\PC*") {
            if let Ok(name) = name.parse::<FileName>() {
                let parts: Vec<_> = std::path::Path::new(name.as_str()).components().collect();
                prop_assert!(matches!(parts[..], [std::path::Component::Normal(part)] if part == name.as_str()));
            }
        }
    }
}
