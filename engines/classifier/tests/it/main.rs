//! Replays the fuzzers' seeds and corpus as ordinary tests. `scripts/fuzz` adds to the corpus.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test reads the corpus, and ends when it is missing"
)]

#[path = "../../../../fuzz/src/classifier.rs"]
mod classifier;

use std::{collections::BTreeSet, panic::catch_unwind, path::Path};

#[test]
fn no_description_of_the_corpus_breaks_a_property() {
    let reached = replay("model_json", classifier::check_settings);
    assert!(
        ["Image", "Audio", "Refused"].iter().all(|kind| reached.contains(*kind)),
        "{reached:?}"
    );
}

#[test]
fn no_archive_of_the_corpus_breaks_a_property() {
    let reached = replay("model_archive", classifier::check_archive);
    assert!(
        ["Archive", "Network", "Refused"].iter().all(|kind| reached.contains(*kind)),
        "{reached:?}"
    );
}

/// Checks every file of a target, and returns which kinds of input they were read as.
fn replay(target: &str, check: fn(&[u8]) -> Vec<String>) -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let mut reached = BTreeSet::new();
    for kind in ["seeds", "corpus"] {
        let folder = root.join(kind).join(target);
        // A target has a corpus once a fuzzer has run.
        if kind == "corpus" && !folder.exists() {
            continue;
        }
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let bytes = std::fs::read(&path).unwrap();
            let found = catch_unwind(|| check(&bytes));
            reached
                .extend(found.unwrap_or_else(|_| panic!("{} breaks a property", path.display())));
        }
    }
    reached
}
