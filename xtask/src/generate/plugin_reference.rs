//! Renders the reference of a plugin's files from their schemas: one table for each kind of table in the files.

use std::fmt::Write as _;

use serde_json::Value;

/// The path of the reference.
pub(super) const PATH: &str = "docs/plugin-reference.md";

const BEFORE: &str = "\
# The files of a plugin

`cargo xtask generate` writes this page from the code that reads the files. [plugins.md](plugins.md) explains how to write a plugin.
An unknown member is an error.
";

/// Returns the reference.
pub(super) fn page() -> String {
    let mut page = BEFORE.to_owned();
    for (file, schema) in link_protocol::plugin::schemas() {
        let mut schema = schema.to_value();
        // The order must not depend on the features of other crates in the build.
        schema.sort_all_objects();
        section(&mut page, &format!("## `{file}`"), &schema);
        let definitions = schema.get("$defs").and_then(Value::as_object);
        for (name, definition) in definitions.into_iter().flatten() {
            match definition.get("oneOf").and_then(Value::as_array) {
                Some(forms) => choices(&mut page, name, definition, forms),
                None if definition.get("enum").is_some() => {
                    choices(&mut page, name, definition, &[]);
                }
                None => section(&mut page, &format!("### {name}"), definition),
            }
        }
    }
    page
}

fn section(page: &mut String, title: &str, schema: &Value) {
    let about = text(schema, "description");
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    let _infallible = write!(page, "\n{title}\n\n{about}\n\n");
    page.push_str("| member | type | required | what it is |\n|---|---|---|---|\n");
    let members = schema.get("properties").and_then(Value::as_object);
    for (name, member) in members.into_iter().flatten() {
        let needed = if is_required(name) { "yes" } else { "no" };
        let row =
            format!("| `{name}` | {} | {needed} | {} |\n", kind(member), about_member(member));
        page.push_str(&row);
    }
}

/// A member that is one of a few words, or a table of one of a few forms.
fn choices(page: &mut String, name: &str, definition: &Value, forms: &[Value]) {
    let has_members = |form: &Value| form.get("properties").is_some();
    if forms.iter().any(has_members) {
        for form in forms {
            let named = form.pointer("/properties/type/const").and_then(Value::as_str);
            let title = format!("### {name}: `{}`", named.unwrap_or_default());
            section(page, &title, form);
        }
        return;
    }
    let about = text(definition, "description");
    let _infallible = write!(page, "\n### {name}\n\n{about}\n\n");
    page.push_str("| value | what it means |\n|---|---|\n");
    let plain = definition.get("enum").and_then(Value::as_array);
    for word in plain.into_iter().flatten().filter_map(Value::as_str) {
        let _infallible = writeln!(page, "| `{word}` | |");
    }
    for form in forms {
        let about = text(form, "description");
        let word = form.get("const").and_then(Value::as_str);
        for word in word.into_iter().chain(words(form)) {
            let _infallible = writeln!(page, "| `{word}` | {about} |");
        }
    }
}

fn words(form: &Value) -> impl Iterator<Item = &str> {
    let words = form.get("enum").and_then(Value::as_array);
    words.into_iter().flatten().filter_map(Value::as_str)
}

/// Returns the type of a member in words.
fn kind(member: &Value) -> String {
    if let Some(name) = member.get("$ref").and_then(Value::as_str) {
        return name.rsplit('/').next().unwrap_or_default().to_owned();
    }
    if let Some(word) = member.get("const") {
        return format!("`{word}`");
    }
    if let Some(forms) =
        member.get("anyOf").or_else(|| member.get("allOf")).and_then(Value::as_array)
    {
        let kinds: Vec<_> = forms.iter().map(kind).filter(|kind| kind != "null").collect();
        return kinds.join(" or ");
    }
    let word = match member.get("type") {
        Some(Value::String(word)) => word.as_str(),
        Some(Value::Array(words)) => {
            words.iter().filter_map(Value::as_str).find(|word| *word != "null").unwrap_or_default()
        }
        _ => "",
    };
    match word {
        "array" => match member.get("items") {
            Some(items) => format!("list of {}", kind(items)),
            None => "list".to_owned(),
        },
        "object" => match member.get("additionalProperties") {
            Some(values @ Value::Object(_)) => format!("table of {}", kind(values)),
            _ => "table".to_owned(),
        },
        "integer" => "whole number".to_owned(),
        "boolean" => "true or false".to_owned(),
        "string" => "text".to_owned(),
        other => other.to_owned(),
    }
}

fn about_member(member: &Value) -> String {
    let about = text(member, "description");
    let default = member.get("default").filter(|value| match value {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    });
    match default {
        Some(default) => format!("{about} Default: `{}`.", default.to_string().replace('"', "")),
        None => about,
    }
    .trim()
    .to_owned()
}

/// Returns a text of a schema on one line.
fn text(schema: &Value, name: &str) -> String {
    let text = schema.get(name).and_then(Value::as_str).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_member_of_the_files_is_explained() {
        let page = page();
        for line in
            page.lines().filter(|line| line.starts_with("| `") && line.matches('|').count() > 4)
        {
            let about = line.rsplit('|').nth(1).unwrap_or_default().trim();
            let kind = line.split('|').nth(2).unwrap_or_default().trim();
            let is_explained = !about.is_empty() || kind.starts_with(char::is_uppercase);
            let is_bound = ["`min`", "`max`", "`type`"].iter().any(|name| line.contains(name));
            assert!(is_explained || is_bound, "{line}");
        }
        for member in ["`accepted_builds`", "`on_socket`", "`proof_path`", "`magic`", "`file`"] {
            assert!(page.contains(member), "{member}");
        }
    }
}
