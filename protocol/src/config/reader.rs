//! Reads JSON value by value, so that one fault does not hide the next.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::fault::{Fault, Faults};
use crate::{id::DeviceId, port::Port, registration::TransportType, secret::Secret};

/// A value and its key.
#[derive(Debug)]
pub(super) struct Node<'a> {
    value: &'a Value,
    key: String,
}

/// An object that is being read, with the keys that were read so far.
#[derive(Debug)]
pub(super) struct Object<'a> {
    fields: &'a Map<String, Value>,
    key: String,
    known: Vec<&'static str>,
}

/// The type of a scalar value, and its description for a person.
pub(super) trait Leaf: DeserializeOwned {
    const EXPECTED: &'static str;
    /// Whether messages must hide a wrong value: a password can look like a number.
    const SECRET: bool = false;
}

/// A text that is not empty.
#[derive(Debug, serde::Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Text(pub(super) String);

impl TryFrom<String> for Text {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        if text.is_empty() { Err("it is empty") } else { Ok(Self(text)) }
    }
}

impl Leaf for Text {
    const EXPECTED: &'static str = "a text";
}

/// A name that is valid in a log, in a metric and for a thread.
#[derive(Debug, serde::Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Name(pub(super) String);

impl TryFrom<String> for Name {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_-".contains(&b);
        let fits = (1..=64).contains(&text.len()) && text.bytes().all(plain);
        if fits { Ok(Self(text)) } else { Err("it is not a name") }
    }
}

impl Leaf for Name {
    const EXPECTED: &'static str = "a name of 1 to 64 of a-z, 0-9, `_` and `-`";
}

/// The address of a backend.
#[derive(Debug, serde::Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Address(pub(super) String);

impl TryFrom<String> for Address {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let host = ["http://", "https://"].iter().find_map(|scheme| text.strip_prefix(scheme));
        let fits =
            host.is_some_and(|host| !host.is_empty() && !host.contains(['@', '?', '#', ' ']));
        if fits { Ok(Self(text)) } else { Err("it is not an address") }
    }
}

impl Leaf for Address {
    const EXPECTED: &'static str = "an address such as `https://link.example`";
}

impl Leaf for bool {
    const EXPECTED: &'static str = "true or false";
}

impl Leaf for Port {
    const EXPECTED: &'static str = "a port from 1 to 65535";
}

impl Leaf for DeviceId {
    const EXPECTED: &'static str = "a device id such as `dev_...`";
}

impl Leaf for Secret {
    const EXPECTED: &'static str = "a text";
    const SECRET: bool = true;
}

impl Leaf for TransportType {
    const EXPECTED: &'static str = "`http` or `zenoh`";
}

impl<'a> Node<'a> {
    pub(super) const fn root(value: &'a Value) -> Self {
        Self { value, key: String::new() }
    }

    /// Adds a fault at this key.
    pub(super) fn fault(&self, expected: impl Into<String>, faults: &mut Faults) {
        let found = describe(self.value);
        faults.push(Fault { key: named(&self.key), expected: expected.into(), found });
    }

    /// Reads a scalar value.
    pub(super) fn leaf<T: Leaf>(&self, faults: &mut Faults) -> Option<T> {
        let read = T::deserialize(self.value).ok();
        match read {
            None if T::SECRET => faults.push(Fault {
                key: named(&self.key),
                expected: T::EXPECTED.to_owned(),
                found: "something else".to_owned(),
            }),
            None => self.fault(T::EXPECTED, faults),
            Some(_) => {}
        }
        read
    }

    /// Reads every item of a list. Items with faults are omitted.
    pub(super) fn list<T>(
        &self,
        faults: &mut Faults,
        read: impl Fn(&Node<'_>, &mut Faults) -> Option<T>,
    ) -> Vec<T> {
        let Value::Array(items) = self.value else {
            self.fault("a list", faults);
            return Vec::new();
        };
        let nodes = items.iter().enumerate();
        let nodes =
            nodes.map(|(place, value)| Node { value, key: format!("{}[{place}]", self.key) });
        nodes.filter_map(|node| read(&node, faults)).collect()
    }

    /// Returns every entry of an object with arbitrary keys.
    pub(super) fn entries(&self, faults: &mut Faults) -> Vec<(&'a str, Self)> {
        let Value::Object(fields) = self.value else {
            self.fault("an object", faults);
            return Vec::new();
        };
        let node = |(name, value): (&'a String, &'a Value)| {
            (name.as_str(), Self { value, key: join(&self.key, name) })
        };
        fields.iter().map(node).collect()
    }
}

impl<'a> Object<'a> {
    /// Opens an object. Adds a fault if the value is not an object.
    pub(super) fn open(node: &Node<'a>, faults: &mut Faults) -> Option<Self> {
        let Value::Object(fields) = node.value else {
            node.fault("an object", faults);
            return None;
        };
        Some(Self { fields, key: node.key.clone(), known: Vec::new() })
    }

    /// Returns the full key of a field.
    pub(super) fn key(&self, name: &str) -> String {
        join(&self.key, name)
    }

    /// Returns a field, if the object has it.
    pub(super) fn child(&mut self, name: &'static str) -> Option<Node<'a>> {
        self.known.push(name);
        let value = self.fields.get(name)?;
        Some(Node { value, key: self.key(name) })
    }

    /// Reads a required field.
    pub(super) fn required<T: Leaf>(
        &mut self,
        name: &'static str,
        faults: &mut Faults,
    ) -> Option<T> {
        if let Some(node) = self.child(name) {
            return node.leaf(faults);
        }
        let (key, expected) = (self.key(name), T::EXPECTED.to_owned());
        faults.push(Fault { key, expected, found: "nothing".to_owned() });
        None
    }

    /// Reads an optional field.
    pub(super) fn optional<T: Leaf>(
        &mut self,
        name: &'static str,
        faults: &mut Faults,
    ) -> Option<T> {
        self.child(name)?.leaf(faults)
    }

    /// Adds a fault for each unknown key.
    pub(super) fn close(self, faults: &mut Faults) {
        for name in self.fields.keys().filter(|name| !self.known.contains(&name.as_str())) {
            let shown: String = name.chars().take(40).collect();
            faults.push(Fault {
                key: self.key(&shown),
                expected: format!("no other key than {}", self.known.join(", ")),
                found: "this one".to_owned(),
            });
        }
    }
}

fn join(key: &str, name: &str) -> String {
    let name = if name.is_empty() { "\"\"" } else { name };
    if key.is_empty() { name.to_owned() } else { format!("{key}.{name}") }
}

fn named(key: &str) -> String {
    if key.is_empty() { "the file".to_owned() } else { key.to_owned() }
}

/// Describes a value without repeating its text, which may be a secret.
fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) if text.is_empty() => "an empty text".to_owned(),
        Value::String(_) => "another text".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}
