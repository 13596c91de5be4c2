//! The settings of a deployment: values for settings of a plugin, by name.
//!
//! The form is checked where the settings are read: names of settings, and numbers, flags or plain words. No character that
//! a shell could interpret gets through. Whether the plugin has such a setting, and takes the value, only a device knows
//! ([`super::Manifest::check_settings`]).

use std::{collections::BTreeMap, str::FromStr};

use serde::{Deserialize, Serialize};

use super::{LIST_LIMIT, is_id, setting::is_word, shown};
use crate::config::Scalar;

/// Values for settings of a plugin, by name.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(try_from = "BTreeMap<String, Scalar>")]
#[schema(value_type = BTreeMap<String, serde_json::Value>)]
pub struct Settings(BTreeMap<String, Scalar>);

/// One setting with its value, written `NAME=VALUE`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Assignment {
    pub name: String,
    pub value: Scalar,
}

/// Settings have an unusable form.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum InvalidSettings {
    #[error("`{0}` is no NAME=VALUE")]
    NoAssignment(String),
    #[error(
        "`{0}` cannot be the name of a setting: a name has 1 to 48 of a to z, 0 to 9 and _, and begins with a letter"
    )]
    Name(String),
    #[error(
        "the value of the setting `{0}` must be a whole number, true, false, or a word of up to 64 letters, digits, dots, \
         dashes and underscores"
    )]
    Value(String),
    #[error("the setting `{0}` is given twice")]
    Twice(String),
    #[error("a deployment has at most {LIST_LIMIT} settings")]
    TooMany,
}

impl Settings {
    /// Returns the value of the setting `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Scalar> {
        self.0.get(name)
    }

    /// Returns every setting.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Scalar)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Returns whether no setting has a value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Collects settings that a person gave.
    ///
    /// # Errors
    /// [`InvalidSettings::Twice`] and [`InvalidSettings::TooMany`].
    pub fn of(assignments: &[Assignment]) -> Result<Self, InvalidSettings> {
        let mut all = BTreeMap::new();
        for Assignment { name, value } in assignments {
            if all.insert(name.clone(), value.clone()).is_some() {
                return Err(InvalidSettings::Twice(name.clone()));
            }
        }
        all.try_into()
    }
}

impl TryFrom<BTreeMap<String, Scalar>> for Settings {
    type Error = InvalidSettings;

    fn try_from(all: BTreeMap<String, Scalar>) -> Result<Self, InvalidSettings> {
        if all.len() > LIST_LIMIT {
            return Err(InvalidSettings::TooMany);
        }
        for (name, value) in &all {
            if !is_id(name) {
                return Err(InvalidSettings::Name(shown(name)));
            }
            let fits = match value {
                Scalar::Text(word) => is_word(word),
                Scalar::Flag(_) | Scalar::Number(_) => true,
            };
            if !fits {
                return Err(InvalidSettings::Value(name.clone()));
            }
        }
        Ok(Self(all))
    }
}

impl FromStr for Assignment {
    type Err = InvalidSettings;

    fn from_str(text: &str) -> Result<Self, InvalidSettings> {
        let (name, value) =
            text.split_once('=').ok_or_else(|| InvalidSettings::NoAssignment(shown(text)))?;
        if !is_id(name) {
            return Err(InvalidSettings::Name(shown(name)));
        }
        let value = match value {
            "true" => Scalar::Flag(true),
            "false" => Scalar::Flag(false),
            digits if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                let number = digits.parse();
                Scalar::Number(number.map_err(|_| InvalidSettings::Value(name.to_owned()))?)
            }
            word if is_word(word) => Scalar::Text(word.to_owned()),
            _ => return Err(InvalidSettings::Value(name.to_owned())),
        };
        Ok(Self { name: name.to_owned(), value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_that_a_person_gives_is_a_name_and_a_plain_value() {
        let read = |text: &str| text.parse::<Assignment>().map(|one| (one.name, one.value));
        let is = |name: &str, value| Ok((name.to_owned(), value));
        assert_eq!(read("context=8192"), is("context", Scalar::Number(8192)));
        assert_eq!(read("fast=true"), is("fast", Scalar::Flag(true)));
        assert_eq!(read("language=de"), is("language", Scalar::Text("de".to_owned())));
        for (text, said) in [
            ("context", "no NAME=VALUE"),
            ("=1", "cannot be the name"),
            ("Con text=1", "cannot be the name"),
            ("a=", "the setting `a` must be"),
            ("a=$(id)", "the setting `a` must be"),
            ("a=x;y", "the setting `a` must be"),
            ("a=`id`", "the setting `a` must be"),
            ("a=--model", "the setting `a` must be"),
            ("a=/etc/passwd", "the setting `a` must be"),
            ("a=99999999999999999999", "the setting `a` must be"),
        ] {
            let refused = text.parse::<Assignment>().unwrap_err().to_string();
            assert!(refused.contains(said), "{text}: {refused}");
        }
        let one: Assignment = "a=1".parse().unwrap();
        let twice = Settings::of(&[one.clone(), one]);
        assert_eq!(twice, Err(InvalidSettings::Twice("a".to_owned())));
    }

    #[test]
    fn what_a_shell_would_interpret_is_refused_where_it_is_read() {
        for body in [
            r#"{"a":"x y"}"#,
            r#"{"a":"$HOME"}"#,
            r#"{"a":"x\ny"}"#,
            r#"{"../a":1}"#,
            r#"{"a":[1]}"#,
            r#"{"a":-1}"#,
        ] {
            assert!(serde_json::from_str::<Settings>(body).is_err(), "{body}");
        }
        let read: Settings = serde_json::from_str(r#"{"a":1,"b":true,"c":"x-1.5"}"#).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), r#"{"a":1,"b":true,"c":"x-1.5"}"#);
    }
}
