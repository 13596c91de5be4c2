//! Validates what the command has printed against the schema of its document.
//!
//! A schema permits unknown members, so that a script with an old schema survives. The tests are
//! stricter: each member that is printed must be described.

use std::collections::BTreeSet;

use link_cli::document::Document;
use serde_json::{Value, json};

/// Checks that the document fits its schema, and that the schema describes each of its members.
pub(crate) fn check(name: &str, document: &Value) {
    let faults = faults(name, document);
    assert!(faults.is_empty(), "`link {name}` does not fit its schema: {faults:#?}\n{document}");
}

/// Returns how the document differs from its schema, and the members that it does not describe.
pub(crate) fn faults(name: &str, document: &Value) -> Vec<String> {
    let mut known = link_cli::documents().into_iter().chain(link_cli::documents_on_stderr());
    let Some(found) = known.find(|known| known.name() == name) else {
        panic!("`link {name}` has no schema: see cli/src/command/documents.rs");
    };
    let mut faults = Vec::new();
    for schema in [found.schema(), closed(&found)] {
        let validator = jsonschema::draft202012::options()
            .should_validate_formats(true)
            .build(&schema)
            .unwrap_or_else(|error| panic!("the schema of `link {name}` is invalid: {error}"));
        let found = validator.iter_errors(document);
        faults.extend(found.map(|fault| format!("{}: {fault}", fault.instance_path())));
    }
    faults
}

/// Returns the words of the command that `words` call, without options and arguments.
pub(crate) fn command(words: &[String]) -> String {
    let mut command = link_cli::command();
    let mut name = Vec::new();
    for word in words {
        if let Some(found) = command.find_subcommand(word) {
            command = found.clone();
            name.push(word.as_str());
        }
    }
    name.join(" ")
}

/// Returns the words of each command without subcommands.
pub(crate) fn commands() -> BTreeSet<String> {
    let mut open = vec![(String::new(), link_cli::command())];
    let mut leaves = BTreeSet::new();
    while let Some((name, command)) = open.pop() {
        if !command.has_subcommands() {
            leaves.insert(name.trim_start().to_owned());
        }
        for subcommand in command.get_subcommands() {
            open.push((format!("{name} {}", subcommand.get_name()), subcommand.clone()));
        }
    }
    leaves
}

/// Returns the schema without its permission for unknown members.
fn closed(document: &Document) -> Value {
    let mut schema = document.schema();
    let mut parts = BTreeSet::new();
    parts_of(&schema, &mut parts);
    close(&mut schema, "", &parts);
    schema
}

/// Collects the definitions that are only a part of an object, which has further members.
fn parts_of(schema: &Value, parts: &mut BTreeSet<String>) {
    match schema {
        Value::Object(members) => {
            let items = members.get("allOf").and_then(Value::as_array).into_iter().flatten();
            let references = items.filter_map(|item| item["$ref"].as_str());
            parts.extend(references.filter_map(|path| path.rsplit('/').next()).map(str::to_owned));
            members.values().for_each(|member| parts_of(member, parts));
        }
        Value::Array(items) => items.iter().for_each(|item| parts_of(item, parts)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Forbids unknown members in each object that is not a part of another one.
fn close(schema: &mut Value, name: &str, parts: &BTreeSet<String>) {
    match schema {
        Value::Object(members) => {
            for (name, member) in members.iter_mut().filter(|(name, _)| *name != "allOf") {
                close(member, name, parts);
            }
            if members.contains_key("allOf") {
                members.insert("unevaluatedProperties".to_owned(), json!(false));
            } else if members.get("properties").is_some_and(Value::is_object)
                && !parts.contains(name)
            {
                members.insert("additionalProperties".to_owned(), json!(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| close(item, "", parts)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
