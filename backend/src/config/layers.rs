//! Merges the sources of a configuration: flags override the environment, the environment overrides the file, and the
//! file overrides the defaults.
//!
//! All faults are reported together, each with its key and the source of its value. This module reads nothing: the text
//! of the file, the environment and the flags are arguments.

use std::{collections::BTreeMap, path::PathBuf};

use serde::Deserialize as _;
use serde_json::Value as Json;
use toml::{Table, Value};

use crate::config::{
    fault::{Fault, Place, SECRETS, Unusable, variable},
    file::ConfigFile,
};

/// The minimum similarity, from 0 to 1, at which a fault suggests a known key for a misspelled one.
const ALIKE: f64 = 0.7;

/// The sources of a configuration, before they are checked.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// The file and its text.
    pub file: Option<(PathBuf, String)>,
    pub environment: BTreeMap<String, String>,
    /// The keys that flags set, with the values and the names of the flags.
    pub flags: Vec<(&'static str, Flag)>,
}

/// A flag of the command line.
#[derive(Clone, Debug)]
pub struct Flag {
    pub name: &'static str,
    pub values: Vec<String>,
}

/// The merged configuration.
#[derive(Clone, Debug)]
pub struct Joined {
    pub values: ConfigFile,
    /// The source of each key's value.
    pub places: BTreeMap<String, Place>,
}

/// Returns every key with the kind of its value.
#[must_use]
pub fn keys() -> BTreeMap<String, Kind> {
    let schema = schemars::schema_for!(ConfigFile).to_value();
    let mut keys = BTreeMap::new();
    collect(&schema, "", &mut keys);
    keys
}

/// The kind of a value, which decides how the text of a variable or a flag is parsed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    Text,
    Number,
    /// A list of texts, separated by commas.
    List,
}

/// Merges the sources.
///
/// # Errors
/// [`Unusable`] with every fault.
pub fn join(given: &Given) -> Result<Joined, Unusable> {
    let keys = keys();
    let mut faults = Vec::new();
    let mut values = BTreeMap::new();
    match given.file.as_ref().map(|(_, text)| text.parse::<Table>()) {
        Some(Ok(table)) => flatten(&table, "", &keys, &mut values),
        Some(Err(error)) => {
            let text = given.file.as_ref().map_or("", |(_, text)| text);
            faults.push(syntax(text, &error));
        }
        None => {}
    }
    let mut places: BTreeMap<String, (Value, Place)> = BTreeMap::new();
    for (key, value) in values {
        if keys.contains_key(&key) {
            places.insert(key, (value, Place::File));
        } else {
            faults.push(unknown(key, &keys));
        }
    }
    for (key, kind) in &keys {
        if let Some(text) = given.environment.get(&variable(key)) {
            let texts = match kind {
                Kind::List => text.split(',').filter(|text| !text.is_empty()).collect(),
                Kind::Text | Kind::Number => vec![text.as_str()],
            };
            let place = Place::Environment(variable(key));
            places.insert(key.clone(), (value(*kind, &texts), place));
        }
    }
    for (key, flag) in &given.flags {
        let texts: Vec<&str> = flag.values.iter().map(String::as_str).collect();
        let kind = keys.get(*key).copied().unwrap_or(Kind::Text);
        let place = Place::Flag(flag.name.to_owned());
        places.insert((*key).to_owned(), (value(kind, &texts), place));
    }
    let mut whole = Table::new();
    for (key, (value, place)) in &places {
        // Each key is parsed separately, so that one fault does not hide another.
        let mut alone = Table::new();
        insert(&mut alone, key, value.clone());
        match ConfigFile::deserialize(alone) {
            Ok(_) => insert(&mut whole, key, value.clone()),
            Err(error) => faults.push(Fault {
                key: key.clone(),
                place: place.clone(),
                said: error.message().trim().to_owned(),
            }),
        }
    }
    let file = given.file.as_ref().map(|(path, _)| path.clone());
    match ConfigFile::deserialize(whole) {
        Ok(values) if faults.is_empty() => {
            let places = keys.into_keys().map(|key| {
                let place = places.remove(&key).map_or(Place::Default, |(_, place)| place);
                (key, place)
            });
            Ok(Joined { values, places: places.collect() })
        }
        Ok(_) | Err(_) => Err(Unusable { file, faults }),
    }
}

fn collect(schema: &Json, prefix: &str, keys: &mut BTreeMap<String, Kind>) {
    let properties = schema.get("properties").and_then(Json::as_object);
    for (name, schema) in properties.into_iter().flatten() {
        let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        if schema.get("properties").is_some() {
            collect(schema, &key, keys);
            continue;
        }
        let is = |wanted: &str| match schema.get("type") {
            Some(Json::String(kind)) => kind == wanted,
            Some(Json::Array(kinds)) => kinds.iter().any(|kind| kind == wanted),
            Some(_) | None => false,
        };
        let kind = match () {
            () if is("integer") => Kind::Number,
            () if is("array") => Kind::List,
            () => Kind::Text,
        };
        keys.insert(key, kind);
    }
}

/// Treats an unknown table as one value, so that it is reported as one fault.
fn flatten(
    table: &Table,
    prefix: &str,
    keys: &BTreeMap<String, Kind>,
    values: &mut BTreeMap<String, Value>,
) {
    for (name, value) in table {
        let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        let section = format!("{key}.");
        match value {
            Value::Table(table) if keys.keys().any(|known| known.starts_with(&section)) => {
                flatten(table, &key, keys, values);
            }
            Value::String(_)
            | Value::Integer(_)
            | Value::Float(_)
            | Value::Boolean(_)
            | Value::Datetime(_)
            | Value::Array(_)
            | Value::Table(_) => {
                values.insert(key, value.clone());
            }
        }
    }
}

fn unknown(key: String, keys: &BTreeMap<String, Kind>) -> Fault {
    let said = if let Some((_, in_place)) = SECRETS.iter().find(|(secret, _)| *secret == key) {
        format!(
            "a password does not stand in this file: write the value into a private file of its own \
             and name that one in `{in_place}`"
        )
    } else {
        let alike = |known: &&String| strsim::jaro_winkler(&key, known);
        let nearest = keys.keys().max_by(|a, b| alike(a).total_cmp(&alike(b)));
        match nearest.filter(|known| alike(known) > ALIKE) {
            Some(known) => format!("there is no such key; is `{known}` meant?"),
            None => "there is no such key; `link-backend config schema` lists them".to_owned(),
        }
    };
    Fault { key, place: Place::File, said }
}

fn value(kind: Kind, texts: &[&str]) -> Value {
    let text = texts.first().copied().unwrap_or_default();
    match kind {
        Kind::Text => Value::String(text.to_owned()),
        Kind::Number => match text.trim().parse() {
            Ok(number) => Value::Integer(number),
            Err(_) => Value::String(text.to_owned()),
        },
        Kind::List => {
            Value::Array(texts.iter().map(|text| Value::String((*text).to_owned())).collect())
        }
    }
}

fn insert(table: &mut Table, key: &str, value: Value) {
    match key.split_once('.') {
        None => {
            table.insert(key.to_owned(), value);
        }
        Some((section, rest)) => {
            let section = table.entry(section).or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(section) = section {
                insert(section, rest, value);
            }
        }
    }
}

/// Describes the position of a syntax error without the text itself, which may contain secrets.
fn syntax(text: &str, error: &toml::de::Error) -> Fault {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = before.lines().count().max(1);
    Fault {
        key: format!("line {line}"),
        place: Place::File,
        said: error.message().trim().replace('\n', ", "),
    }
}

#[cfg(test)]
mod tests;
