//! The catalogue of models. Each entry names a file at an address, and gives its checksum, its licence and its
//! requirements.
//!
//! The catalogue is published as a signed document. A name has no `/`, so it cannot be confused with another account's
//! model or with a path. An address is https, so the network does not learn which model a device downloads.

use serde::{Deserialize, Serialize};

use crate::{
    backend_api::model::ModelFacts, command::Sha256Hex, file_name::FileName, limits,
    signed_document::Document,
};

/// The name of the catalogue's file, both beside the releases and at the backend.
pub const CATALOGUE_FILE: &str = "catalogue.json";

/// The largest number of models in a catalogue.
const MODELS_LIMIT: usize = 10_000;
/// The longest name of a model, in bytes.
const NAME_LIMIT: usize = 64;
/// The longest other text, in characters.
const TEXT_LIMIT: usize = 300;
/// The longest address, in bytes.
const ADDRESS_LIMIT: usize = 2000;

/// A catalogue of named models.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Catalogue {
    pub models: Vec<NamedModel>,
}

/// A model in the catalogue.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct NamedModel {
    /// Lower-case letters, digits, `.`, `-`, `_` and `:`.
    pub name: String,
    /// The purpose of the model, in one line.
    pub summary: String,
    /// The licence, such as `Apache-2.0`.
    pub licence: String,
    pub file_name: FileName,
    pub url: String,
    pub sha256: Sha256Hex,
    pub size_bytes: u64,
    pub facts: ModelFacts,
}

impl Catalogue {
    /// Finds the model called `name`.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&NamedModel> {
        self.models.iter().find(|model| model.name == name)
    }

    /// Lists the models that contain each of `words` in their name, summary, architecture or licence. Case is ignored.
    pub fn search(&self, words: &[String]) -> impl Iterator<Item = &NamedModel> {
        let words: Vec<_> = words.iter().map(|word| word.to_lowercase()).collect();
        self.models.iter().filter(move |model| {
            let NamedModel { name, summary, licence, facts, .. } = model;
            let text = format!("{name} {summary} {licence} {}", facts.architecture).to_lowercase();
            words.iter().all(|word| text.contains(word))
        })
    }
}

impl Document for Catalogue {
    const KIND: &'static str = "model_catalogue";
    const SCHEMA: u32 = 1;

    fn check(&self) -> Result<(), String> {
        if self.models.len() > MODELS_LIMIT {
            return Err(format!("it names more than {MODELS_LIMIT} models"));
        }
        let mut names: Vec<_> = self.models.iter().map(|model| model.name.as_str()).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("it names `{}` twice", twice[0]));
        }
        self.models.iter().try_for_each(NamedModel::check)
    }
}

impl NamedModel {
    fn check(&self) -> Result<(), String> {
        let faulty = |what: &str| Err(format!("the model `{}` {what}", self.name));
        let is_of_name = |byte: u8| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".-_:".contains(&byte)
        };
        if !(1..=NAME_LIMIT).contains(&self.name.len()) || !self.name.bytes().all(is_of_name) {
            return Err("a name is not of lower-case letters, digits, `.`, `-`, `_` and `:`".into());
        }
        let texts = [&self.summary, &self.licence, &self.facts.architecture];
        let quantization = self.facts.quantization.as_ref();
        for text in texts.into_iter().chain(quantization) {
            if text.chars().count() > TEXT_LIMIT || text.chars().any(char::is_control) {
                return faulty("has a text that cannot be shown");
            }
        }
        if !is_https(&self.url) {
            return faulty("is at an address that is not https");
        }
        if self.size_bytes == 0 || self.size_bytes > limits::MODEL_SIZE_LIMIT {
            return faulty("has a size that no model has");
        }
        Ok(())
    }
}

/// Returns whether `url` is https, has a host, and contains neither a user nor control characters.
fn is_https(url: &str) -> bool {
    let Some(rest) = url.strip_prefix("https://") else { return false };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let is_plain = url.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    is_plain && url.len() <= ADDRESS_LIMIT && !host.is_empty() && !host.contains('@')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        signed_document::{Issue, RefusedDocument},
        signing::SigningKey,
    };

    type Change = fn(&mut NamedModel);

    #[test]
    fn a_catalogue_that_says_what_it_must_not_is_neither_signed_nor_read() {
        let cases: [(&str, Change); 9] = [
            ("not https", |model| model.url = "http://models.example/a.gguf".into()),
            ("not https", |model| model.url = "file:///etc/passwd".into()),
            ("not https", |model| model.url = "https://user:secret@models.example/a".into()),
            ("not https", |model| model.url = "https:///a".into()),
            ("size", |model| model.size_bytes = 0),
            ("a name", |model| model.name = "bob/llama".into()),
            ("a name", |model| model.name = String::new()),
            ("shown", |model| model.summary = "\u{1b}[2J".into()),
            ("shown", |model| model.facts.architecture = "x".repeat(301)),
        ];
        assert_eq!(Catalogue { models: vec![model("a"), model("b")] }.check(), Ok(()));
        for (said, change) in cases {
            let mut catalogue = Catalogue { models: vec![model("a")] };
            change(&mut catalogue.models[0]);
            let issue = Issue::new(1, "2026-10-01T00:00:00Z".parse().unwrap(), catalogue);
            let key = SigningKey::from_seed(&[1; 32]);
            let RefusedDocument::Faulty(why) = issue.seal(&key).unwrap_err() else { panic!() };
            assert!(why.contains(said), "{why}");
            let sealed = key.seal_text(serde_json::to_string(&issue).unwrap());
            let file = serde_json::to_vec(&sealed).unwrap();
            let read = Issue::<Catalogue>::read(&file, &[key.verifying().clone()], None);
            assert_eq!(read, Err(RefusedDocument::Faulty(why)));
        }
        let twice = Catalogue { models: vec![model("a"), model("b"), model("a")] };
        assert_eq!(twice.check(), Err("it names `a` twice".to_owned()));
    }

    #[test]
    fn a_search_finds_what_has_every_word() {
        let catalogue = Catalogue { models: vec![model("smollm2:135m"), model("qwen3:4b")] };
        let found = |words: &[&str]| {
            let words: Vec<_> = words.iter().map(|&word| word.to_owned()).collect();
            catalogue.search(&words).map(|model| model.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(found(&["SMOL", "apache"]), ["smollm2:135m"]);
        assert_eq!(found(&[]).len(), 2);
        assert!(found(&["smol", "gpl"]).is_empty());
        assert_eq!(catalogue.find("qwen3:4b").map(|model| model.size_bytes), Some(1000));
        assert_eq!(catalogue.find("qwen3"), None);
    }

    fn model(name: &str) -> NamedModel {
        serde_json::from_value(serde_json::json!({
            "name": name, "summary": "small", "licence": "Apache-2.0", "file_name": "a.gguf",
            "url": "https://models.example/a.gguf", "sha256": "0".repeat(64), "size_bytes": 1000,
            "facts": { "architecture": "llama", "parameters": 1, "memory_bytes": 2 },
        }))
        .unwrap()
    }
}
