//! Checks, member by member, that any change to a signed catalogue, engine index or statement about a plugin is refused.

#![expect(clippy::unwrap_used, reason = "a step that fails ends the test")]

use jiff::Timestamp;
use link_protocol::{
    catalogue::Catalogue,
    engine_index::EngineIndex,
    plugin_archive::PluginArchive,
    signed_document::{Document, Issue, RefusedDocument},
    signing::SigningKey,
};
use serde_json::{Value, json};

#[test]
fn a_catalogue_is_refused_whichever_member_was_changed_dropped_or_added() {
    let catalogue = json!({ "models": [{
        "name": "smol:135m", "summary": "short answers", "licence": "Apache-2.0",
        "file_name": "smol.gguf", "url": "https://models.example/smol.gguf",
        "sha256": "0".repeat(64), "size_bytes": 1_048_576,
        "facts": {
            "architecture": "llama", "quantization": "Q4_K_M", "parameters": 135_000_000,
            "context_length": 2048, "memory_bytes": 200_000_000,
        },
    }]});
    assert!(refuses_every_change::<Catalogue>(catalogue) > 40);
}

#[test]
fn an_engine_index_is_refused_whichever_member_was_changed_dropped_or_added() {
    let index = json!({ "builds": [{
        "engine": "llama-server", "build": "b10068", "system": "linux", "processor": "x86_64",
        "accelerators": ["cpu"], "needs": ["avx2"], "file": "llama.tar.gz",
        "url": "https://engines.example/llama.tar.gz", "size_bytes": 1000, "unpacked_bytes": 2000,
        "sha256": "0".repeat(64), "licence": "MIT",
    }]});
    assert!(refuses_every_change::<EngineIndex>(index) > 40);
}

#[test]
fn a_statement_about_a_plugin_is_refused_whichever_member_was_changed_dropped_or_added() {
    let statement = json!({
        "plugin": "echo", "version": "1.0.0", "size_bytes": 1000, "sha256": "0".repeat(64),
    });
    assert!(refuses_every_change::<PluginArchive>(statement) > 25);
}

/// Signs `document`, tries one change after another under the same signature, and returns the number of changes.
fn refuses_every_change<T: Document>(document: Value) -> usize {
    let key = SigningKey::from_seed(&[1; 32]);
    let trusted = [key.verifying().clone()];
    let document: T = serde_json::from_value(document).unwrap();
    let signed = Issue::new(7, Timestamp::UNIX_EPOCH, document).seal(&key).unwrap();
    let signed = serde_json::to_value(signed).unwrap();
    let read = |file: &Value| Issue::<T>::read(file.to_string().as_bytes(), &trusted, Some(7));
    assert!(read(&signed).is_ok());

    // The members of the envelope: the signature, the name of its key and the text.
    let mut count = 0;
    for (name, changed) in changes(&signed) {
        let refused = read(&changed).err();
        // An unknown member of the envelope is not part of the signed text.
        let is_more = name.ends_with("+ more");
        assert!(refused.is_some() || is_more, "{name}");
        count += 1;
    }
    // The members of the signed text.
    let (text, issue) = signed_text(&signed);
    for (name, changed) in changes(&issue) {
        let mut forged = signed.clone();
        forged[&text] = Value::String(changed.to_string());
        let refused = read(&forged).err();
        assert!(matches!(refused, Some(RefusedDocument::Untrusted(_))), "{name}: {refused:?}");
        count += 1;
    }
    // The whole of another issue, under the signature of this one.
    let mut other = issue;
    other["serial"] = 8.into();
    let stranger = SigningKey::from_seed(&[2; 32]).seal_text(other.to_string());
    let refused = read(&serde_json::to_value(stranger).unwrap());
    assert!(matches!(refused, Err(RefusedDocument::Untrusted(_))));
    count
}

/// Returns the name of the envelope's member with the signed text, and the parsed signed text.
fn signed_text(signed: &Value) -> (String, Value) {
    let members = signed.as_object().unwrap().iter();
    let mut texts = members.filter_map(|(name, value)| {
        let issue = serde_json::from_str::<Value>(value.as_str()?).ok()?;
        issue.is_object().then(|| (name.clone(), issue))
    });
    texts.next().unwrap()
}

/// Returns every way to change, drop or add one member of `value`, each with its location.
fn changes(value: &Value) -> Vec<(String, Value)> {
    let mut changed = Vec::new();
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                for (place, member) in changes(member) {
                    let mut other = members.clone();
                    other.insert(name.clone(), member);
                    changed.push((format!("{name}.{place}"), other.into()));
                }
                let mut fewer = members.clone();
                fewer.remove(name);
                changed.push((format!("{name} dropped"), fewer.into()));
            }
            let mut more = members.clone();
            more.insert("more".to_owned(), true.into());
            changed.push(("+ more".to_owned(), more.into()));
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                for (place, item) in changes(item) {
                    let mut other = items.clone();
                    other[at] = item;
                    changed.push((format!("{at}.{place}"), other.into()));
                }
            }
            changed.push(("emptied".to_owned(), Value::Array(Vec::new())));
            let twice = [items.clone(), items.clone()].concat();
            changed.push(("doubled".to_owned(), twice.into()));
        }
        Value::String(text) => {
            changed.push(("a letter more".to_owned(), format!("{text}x").into()));
            changed.push(("a letter less".to_owned(), text[1..].into()));
        }
        Value::Number(number) => {
            changed.push(("one more".to_owned(), (number.as_u64().unwrap() + 1).into()));
        }
        Value::Bool(told) => changed.push(("turned".to_owned(), (!told).into())),
        Value::Null => changed.push(("filled".to_owned(), true.into())),
    }
    changed
}
