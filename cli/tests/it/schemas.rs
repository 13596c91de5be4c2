//! Validates what the command has printed against the schema of its document.

use std::collections::BTreeSet;

use link_tests::schema;
use serde_json::Value;

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
    schema::faults(&found.schema(), document)
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
