//! Checks a JSON document against its JSON Schema.
//!
//! A schema permits unknown members, so that a script with an old schema survives. The tests are stricter: each member
//! of the document must be described.

use std::{collections::BTreeSet, path::Path};

use serde_json::{Value, json};

/// Checks that `link COMMAND --json` has printed a document as `docs/json` describes it, and returns the document.
///
/// # Panics
/// Panics if `printed` is no document, if the command has no schema, or if the document does not fit it.
#[must_use]
pub fn printed_by(command: &str, printed: &str) -> Value {
    let name = format!("../docs/json/{}.schema.json", command.replace(' ', "-"));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    let schema = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("cannot read `{}`: {error}", path.display()));
    let schema = serde_json::from_str(&schema).unwrap();
    let document = serde_json::from_str(printed)
        .unwrap_or_else(|error| panic!("`link {command}` printed no document: {error}: {printed}"));
    let faults = faults(&schema, &document);
    assert!(faults.is_empty(), "`link {command}` does not fit its schema: {faults:#?}\n{document}");
    document
}

/// Returns how the document differs from its schema, and the members that the schema does not describe.
///
/// # Panics
/// Panics if the schema is invalid.
#[must_use]
pub fn faults(schema: &Value, document: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    for schema in [schema.clone(), closed(schema)] {
        let validator = jsonschema::draft202012::options()
            .should_validate_formats(true)
            .build(&schema)
            .unwrap_or_else(|error| panic!("the schema is invalid: {error}"));
        let found = validator.iter_errors(document);
        faults.extend(found.map(|fault| format!("{}: {fault}", fault.instance_path())));
    }
    faults
}

/// Returns the schema without its permission for unknown members.
fn closed(schema: &Value) -> Value {
    let mut schema = schema.clone();
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
