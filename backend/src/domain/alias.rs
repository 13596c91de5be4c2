//! The alias of a model that was deployed without one.

use link_protocol::{command::Alias, id::ModelId};

/// Returns an alias made from `name`, or from the id of the model if `name` has no usable
/// character.
#[must_use]
pub fn from_name(name: &str, model: ModelId) -> Alias {
    let mut slug = String::new();
    for character in name.chars().flat_map(char::to_lowercase) {
        match character {
            'a'..='z' | '0'..='9' | '.' | '_' => slug.push(character),
            _ if slug.ends_with('-') => {}
            _ => slug.push('-'),
        }
    }
    let slug: String = slug.trim_matches(['-', '.', '_']).chars().take(64).collect();
    let slug = slug.trim_end_matches(['-', '.', '_']);
    slug.parse().unwrap_or_else(|_| of_id(model))
}

/// Returns `alias`, or the first of `alias-2`, `alias-3` and so on that is not `taken`.
#[must_use]
pub fn free(alias: Alias, taken: &[&Alias]) -> Alias {
    if !taken.contains(&&alias) {
        return alias;
    }
    let stem: String = alias.as_str().chars().take(56).collect();
    (2..=taken.len() + 2)
        .filter_map(|number| format!("{stem}-{number}").parse().ok())
        .find(|candidate| !taken.contains(&candidate))
        .unwrap_or(alias)
}

fn of_id(model: ModelId) -> Alias {
    let digits = model.to_string().replace(ModelId::PREFIX, "model-");
    digits.parse().expect("an id is lower-case letters and digits")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_name_becomes_a_readable_alias() {
        for (name, alias) in [
            ("SmolLM2 135M Instruct", "smollm2-135m-instruct"),
            ("tiny.gguf", "tiny.gguf"),
            ("  --Große Liebe--  ", "gro-e-liebe"),
        ] {
            assert_eq!(from_name(name, model()).as_str(), alias);
        }
        assert_eq!(from_name("模型", model()).as_str(), "model-00000000000000000000000000000007");
    }

    #[test]
    fn a_made_up_alias_avoids_those_that_are_taken() {
        let [tiny, second]: [Alias; 2] = ["tiny", "tiny-2"].map(|text| text.parse().unwrap());
        assert_eq!(free(tiny.clone(), &[]), tiny);
        assert_eq!(free(tiny.clone(), &[&tiny]), second);
        assert_eq!(free(tiny.clone(), &[&second, &tiny]).as_str(), "tiny-3");
    }

    proptest! {
        #[test]
        fn every_name_gives_an_alias(name in "\\PC*") {
            prop_assert!(!from_name(&name, model()).as_str().is_empty());
        }
    }

    fn model() -> ModelId {
        ModelId::from_uuid(Uuid::from_u128(7))
    }
}
