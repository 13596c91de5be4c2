//! Settings of a component. Only that component knows their names.

use std::{collections::BTreeMap, fmt};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    fault::Faults,
    reader::{Leaf, Node},
};

/// Settings of one component or plugin: names and plain values.
#[derive(Clone, Debug, Default, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(transparent)]
pub struct GenericConfig(BTreeMap<String, Scalar>);

/// A plain value.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(untagged, expecting = "a whole number from 0, `true`, `false` or a text")]
pub enum Scalar {
    Flag(bool),
    Number(u64),
    Text(String),
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => flag.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl Leaf for Scalar {
    const EXPECTED: &'static str = "a text, a whole number, true or false";
}

impl GenericConfig {
    /// Returns the value of the setting `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Scalar> {
        self.0.get(name)
    }

    /// Returns the number in the setting `name`.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<u64> {
        match self.0.get(name)? {
            Scalar::Number(number) => Some(*number),
            Scalar::Flag(_) | Scalar::Text(_) => None,
        }
    }

    /// Returns every setting.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Scalar)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }
}

pub(super) fn read_all(node: &Node<'_>, faults: &mut Faults) -> BTreeMap<String, GenericConfig> {
    let components = node.entries(faults).into_iter();
    components
        .map(|(name, node)| {
            let settings = node.entries(faults).into_iter();
            let settings = settings.filter_map(|(name, node)| {
                node.leaf(faults).map(|value: Scalar| (name.to_owned(), value))
            });
            (name.to_owned(), GenericConfig(settings.collect()))
        })
        .collect()
}
