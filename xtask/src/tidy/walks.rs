//! The walks of `ARCHITECTURE.md`: the path of a request or a file through the product.
//!
//! A walk is an item of the list below `## Walks`. Each path in backticks that ends in `.rs` is a file of the
//! repository. A walk names no file twice.

use crate::tidy::{Finding, lexer::RustFile};

/// The path of the document.
pub(crate) const PATH: &str = "ARCHITECTURE.md";

const RULE: &str = "walks";
const HEADING: &str = "## Walks";

/// Compares the walks of `document` with the existing files.
pub(crate) fn check(document: &str, files: &[RustFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut walk: Vec<&str> = Vec::new();
    let mut is_within = false;
    for (index, text) in document.lines().enumerate() {
        let mut found = |message| {
            findings.push(Finding { path: PATH.to_owned(), line: index + 1, rule: RULE, message });
        };
        if text.starts_with("## ") {
            is_within = text.trim_end() == HEADING;
        }
        if !is_within {
            continue;
        }
        if text.starts_with("- ") {
            walk.clear();
        }
        for path in named_files(text) {
            if !files.iter().any(|file| file.path == path) {
                found(missing(path, files));
            }
            if walk.contains(&path) {
                found(format!("`{path}` is named twice in one walk: name it once"));
            }
            walk.push(path);
        }
    }
    if !document.lines().any(|line| line.trim_end() == HEADING) {
        let message = format!("there is no `{HEADING}`");
        findings.push(Finding { path: PATH.to_owned(), line: 1, rule: RULE, message });
    }
    findings
}

/// Returns the files that a line names. A walk may span several lines, but a path never does.
fn named_files(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2).filter(|name| name.contains('/') && name.ends_with(".rs"))
}

/// Returns the text that `path` does not exist, with the files of the same name.
fn missing(path: &str, files: &[RustFile]) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let program = path.split('/').next().unwrap_or(path);
    let is_alike = |file: &&RustFile| {
        file.path.starts_with(&format!("{program}/")) && file.path.ends_with(&format!("/{name}"))
    };
    let alike: Vec<String> =
        files.iter().filter(is_alike).map(|file| format!("`{}`", file.path)).collect();
    if alike.is_empty() {
        format!("there is no `{path}`")
    } else {
        format!("there is no `{path}`: is it {}?", alike.join(" or "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::TextFile;

    const GOOD: &str = "# House\n\nSee `a/src/gone.rs`.\n\n## Walks\n\n- **In**: `a/src/door.rs` → a word, `POST /hall` →\n  \
        `a/src/hall.rs`.\n- **Out**: `a/src/hall.rs` → `a/src/door.rs`.\n\n## Rooms\n\n`a/src/old.rs`\n";

    #[test]
    fn walks_through_files_that_exist_are_fine() {
        assert_eq!(found(GOOD), [""; 0]);
    }

    #[test]
    fn a_file_that_does_not_exist_is_refused_with_those_of_its_name() {
        let walks =
            GOOD.replace("`a/src/door.rs` → a", "`a/src/new/door.rs` → `b/src/door.rs` → a");
        assert_eq!(
            found(&walks),
            [
                "ARCHITECTURE.md:7: there is no `a/src/new/door.rs`: is it `a/src/door.rs`?",
                "ARCHITECTURE.md:7: there is no `b/src/door.rs`",
            ]
        );
    }

    #[test]
    fn a_walk_that_comes_back_is_refused() {
        let walks = GOOD.replace("  `a/src/hall.rs`.", "  `a/src/hall.rs` → `a/src/door.rs`.");
        assert_eq!(
            found(&walks),
            ["ARCHITECTURE.md:8: `a/src/door.rs` is named twice in one walk: name it once"]
        );
    }

    #[test]
    fn a_document_without_walks_is_refused() {
        assert_eq!(found("# House\n"), ["ARCHITECTURE.md:1: there is no `## Walks`"]);
    }

    fn found(document: &str) -> Vec<String> {
        let files = ["a/src/door.rs", "a/src/hall.rs"]
            .map(|path| RustFile::from(TextFile { path: path.to_owned(), text: String::new() }));
        check(document, &files)
            .iter()
            .map(|finding| format!("{}:{}: {}", finding.path, finding.line, finding.message))
            .collect()
    }
}
