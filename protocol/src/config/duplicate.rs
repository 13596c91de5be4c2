//! Finds duplicate members of JSON objects. A reader that keeps one of two would silently drop the other.

use std::{collections::BTreeSet, fmt};

use serde::{
    Deserializer,
    de::{DeserializeSeed, MapAccess, SeqAccess, Visitor},
};

use super::fault::{Fault, Faults};

/// Adds a fault for each duplicate member of an object in the JSON `text`.
pub(super) fn find(text: &str, faults: &mut Faults) {
    let mut found = BTreeSet::new();
    let place = Place { key: String::new(), found: &mut found };
    if place.deserialize(&mut serde_json::Deserializer::from_str(text)).is_err() {
        return;
    }
    for key in found {
        let expected = "each member once";
        faults.push(Fault { key, expected: expected.to_owned(), found: "it twice".to_owned() });
    }
}

/// A value, its key, and the faults so far.
struct Place<'a> {
    key: String,
    found: &'a mut BTreeSet<String>,
}

impl<'de> DeserializeSeed<'de> for Place<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Place<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = BTreeSet::new();
        while let Some(name) = map.next_key::<String>()? {
            let dot = if self.key.is_empty() { "" } else { "." };
            let key = format!("{}{dot}{name}", self.key);
            if !seen.insert(name) {
                self.found.insert(key.clone());
            }
            map.next_value_seed(Place { key, found: self.found })?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        for place in 0.. {
            let key = format!("{}[{place}]", self.key);
            if list.next_element_seed(Place { key, found: self.found })?.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn visit_bool<E>(self, _value: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _value: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _value: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _value: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _value: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}
