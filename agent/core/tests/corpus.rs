//! Replays the fuzzers' corpus and their seeds as ordinary tests.
//!
//! The properties are those of the fuzz targets: `fuzz/src`. `scripts/fuzz` adds to the corpus.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test reads the corpus, and ends when it is missing"
)]

#[path = "../../../fuzz/src/lib.rs"]
pub mod properties;

use std::{
    collections::BTreeSet,
    panic::catch_unwind,
    path::{Path, PathBuf},
};

use properties::{command, configuration, model, plugin, session};

#[test]
fn no_command_of_the_corpus_breaks_a_property() {
    let kinds = [
        "DeployModel",
        "UpdateModel",
        "CancelDeploy",
        "StartServing",
        "StopServing",
        "RepairServing",
        "UpdatePipeline",
        "UninstallModel",
        "UpdateAgent",
    ];
    let reached = replay("command", command::check);
    assert_reached(&reached, &["Signed", "Malformed", "Mismatched"]);
    assert_reached(&reached, &kinds);
}

#[test]
fn no_configuration_of_the_corpus_breaks_a_property() {
    let reached = replay("configuration", configuration::check);
    assert_reached(&reached, &["Faultless", "Faulty", "Secret"]);
}

#[test]
fn no_model_of_the_corpus_breaks_a_property() {
    let reached = replay("model", model::check);
    let faults = ["Short", "Other", "Version", "Truncated", "Part", "Garbled"];
    assert_reached(&reached, &["Model"]);
    assert_reached(&reached, &faults);
}

#[test]
fn no_plugin_of_the_corpus_breaks_a_property() {
    let reached = replay("plugin", plugin::check);
    let faults = ["Syntax", "UnknownSchema", "EntryPoint", "OutsideFolder", "Fault"];
    assert_reached(&reached, &["Usable", "Argument", "Setting"]);
    assert_reached(&reached, &faults);
}

#[test]
fn no_session_of_the_corpus_breaks_a_property() {
    let reached = replay("session", session::check);
    assert_reached(&reached, &["Usable", "SchemaVersion", "Damaged", "Foreign"]);
}

/// Checks every file of a target, and returns which kinds of input they parsed as.
fn replay(target: &str, check: fn(&[u8]) -> Vec<String>) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut broken = Vec::new();
    for path in ["seeds", "corpus"].iter().flat_map(|kind| files(kind, target)) {
        let data = std::fs::read(&path).unwrap();
        match catch_unwind(|| check(&data)) {
            Ok(kinds) => reached.extend(kinds),
            Err(_) => broken.push(path),
        }
    }
    assert_eq!(broken, [""; 0].map(PathBuf::from));
    reached
}

fn files(kind: &str, target: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let folder = std::fs::read_dir(root.join(kind).join(target)).unwrap();
    let files: Vec<_> = folder.map(|entry| entry.unwrap().path()).collect();
    assert!(!files.is_empty(), "{kind} of {target}");
    files
}

fn assert_reached(reached: &BTreeSet<String>, wanted: &[&str]) {
    let missing: Vec<_> = wanted.iter().filter(|kind| !reached.contains(**kind)).collect();
    assert!(missing.is_empty(), "nothing in the corpus is {missing:?}");
}
