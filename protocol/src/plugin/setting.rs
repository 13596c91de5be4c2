//! The settings of a plugin: typed and bounded, so that a value can be checked before an engine starts.
//!
//! A value becomes exactly one argument of the engine or a part of one. No shell reads it, and it is never expanded
//! again.

use std::fmt;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::config::Scalar;

/// The most choices of one setting.
const CHOICES_LIMIT: usize = 64;

/// A setting that a plugin offers.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Setting {
    /// A whole number from `min` to `max`.
    Integer {
        /// What the setting does, in one line.
        description: String,
        min: u64,
        max: u64,
        /// The value that applies if nobody sets one. Absent: the setting has no value.
        #[serde(default)]
        default: Option<u64>,
    },
    /// On or off. An engine gets `true` or `false`.
    Flag {
        /// What the setting does, in one line.
        description: String,
        /// The value that applies if nobody sets one. Absent: the setting has no value.
        #[serde(default)]
        default: Option<bool>,
    },
    /// One of a few words.
    Choice {
        /// What the setting does, in one line.
        description: String,
        /// Words of letters, digits, dots, dashes and underscores.
        choices: Vec<String>,
        /// The value that applies if nobody sets one. Absent: the setting has no value.
        #[serde(default)]
        default: Option<String>,
    },
}

/// The checked value of a setting.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Value {
    Integer(u64),
    Flag(bool),
    Choice(String),
}

/// The definition of a setting is inconsistent.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum InvalidSetting {
    #[error("its name must be 1 to 48 of a to z, 0 to 9 and _, and no name of a placeholder")]
    Name,
    #[error("its description must be one line of 1 to 200 printable characters")]
    Description,
    #[error("`min` is above `max`")]
    Empty,
    #[error("`choices` must be 1 to 64 words of letters, digits, dots, dashes and underscores")]
    Choices,
    #[error("`default` is not among the values that the setting takes")]
    Default,
}

impl Setting {
    /// Checks the definition.
    pub(super) fn check(&self) -> Result<(), InvalidSetting> {
        if !super::is_line(self.description()) {
            return Err(InvalidSetting::Description);
        }
        match self {
            Self::Integer { min, max, default, .. } => {
                if min > max {
                    return Err(InvalidSetting::Empty);
                }
                let fits = default.is_none_or(|number| (*min..=*max).contains(&number));
                fits.then_some(()).ok_or(InvalidSetting::Default)
            }
            Self::Flag { .. } => Ok(()),
            Self::Choice { choices, default, .. } => {
                let are_words = choices.iter().all(|choice| is_word(choice));
                if !are_words || !(1..=CHOICES_LIMIT).contains(&choices.len()) {
                    return Err(InvalidSetting::Choices);
                }
                let fits = default.as_ref().is_none_or(|word| choices.contains(word));
                fits.then_some(()).ok_or(InvalidSetting::Default)
            }
        }
    }

    /// What the setting does, in one line.
    #[must_use]
    pub fn description(&self) -> &str {
        match self {
            Self::Integer { description, .. }
            | Self::Flag { description, .. }
            | Self::Choice { description, .. } => description,
        }
    }

    /// Returns the value if the setting takes it.
    #[must_use]
    pub fn accept(&self, value: &Scalar) -> Option<Value> {
        match (self, value) {
            (Self::Integer { min, max, .. }, Scalar::Number(number)) => {
                (*min..=*max).contains(number).then_some(Value::Integer(*number))
            }
            (Self::Flag { .. }, Scalar::Flag(flag)) => Some(Value::Flag(*flag)),
            (Self::Choice { choices, .. }, Scalar::Text(word)) => {
                choices.contains(word).then(|| Value::Choice(word.clone()))
            }
            // A choice may look like a number or a flag.
            (Self::Choice { choices, .. }, other) => {
                let word = other.to_string();
                choices.contains(&word).then_some(Value::Choice(word))
            }
            (Self::Integer { .. } | Self::Flag { .. }, _) => None,
        }
    }

    /// Returns the value that applies if nobody sets one.
    #[must_use]
    pub fn default_value(&self) -> Option<Value> {
        match self {
            Self::Integer { default, .. } => default.map(Value::Integer),
            Self::Flag { default, .. } => default.map(Value::Flag),
            Self::Choice { default, .. } => default.clone().map(Value::Choice),
        }
    }

    /// Describes the values that the setting takes, such as "a whole number from 1 to 8".
    #[must_use]
    pub fn expected(&self) -> String {
        match self {
            Self::Integer { min, max, .. } => format!("a whole number from {min} to {max}"),
            Self::Flag { .. } => "true or false".to_owned(),
            Self::Choice { choices, .. } => choices.join(" or "),
        }
    }
}

impl Setting {
    /// Returns the JSON schema of the values that the setting takes.
    #[must_use]
    pub fn json_schema(&self) -> serde_json::Value {
        let mut schema = match self {
            Self::Integer { min, max, .. } => {
                serde_json::json!({ "type": "integer", "minimum": min, "maximum": max })
            }
            Self::Flag { .. } => serde_json::json!({ "type": "boolean" }),
            Self::Choice { choices, .. } => {
                serde_json::json!({ "type": "string", "enum": choices })
            }
        };
        schema["description"] = self.description().into();
        match self.default_value() {
            Some(Value::Integer(number)) => schema["default"] = number.into(),
            Some(Value::Flag(flag)) => schema["default"] = flag.into(),
            Some(Value::Choice(word)) => schema["default"] = word.into(),
            None => {}
        }
        schema
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(number) => number.fmt(f),
            Self::Flag(flag) => flag.fmt(f),
            Self::Choice(word) => f.write_str(word),
        }
    }
}

pub(super) fn is_word(text: &str) -> bool {
    let usual = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    (1..=64).contains(&text.len()) && !text.starts_with('-') && text.chars().all(usual)
}
