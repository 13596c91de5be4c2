//! The walks of `ARCHITECTURE.md`: a numbered line of a walk names files that exist, so that the line can be followed.

use crate::tidy::Finding;

/// Where the walks stand.
pub(crate) const PATH: &str = "ARCHITECTURE.md";

const RULE: &str = "walks";

/// Looks for files that a numbered line names and that `exists` does not know.
pub(crate) fn check(document: &str, exists: impl Fn(&str) -> bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in document.lines().enumerate().filter(|(_, line)| is_numbered(line)) {
        // What stands between backticks is every other part.
        let quoted = line.split('`').skip(1).step_by(2);
        let files = quoted.filter(|word| word.contains('/') && word.contains('.'));
        findings.extend(files.filter(|file| !exists(file)).map(|file| Finding {
            path: PATH.to_owned(),
            line: index + 1,
            rule: RULE,
            message: format!("there is no `{file}`: name the file that the walk goes through"),
        }));
    }
    findings
}

/// Tells whether `line` is one of a numbered list.
fn is_numbered(line: &str) -> bool {
    let line = line.trim_start();
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    number.len() < line.len() && number.starts_with(". ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_walk_that_names_no_file_is_found() {
        let document = "- **Walk**, each line the next step:\n  1. `cli/src/a.rs` → `cli/src/b.rs`: `--flag`\n  \
                        10. `cli/src/c.rs` (`POST /update`)\n`cli/src/prose.rs`\n";
        let findings = check(document, |file| file == "cli/src/a.rs");
        let found: Vec<_> = findings.iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "ARCHITECTURE.md:2: walks: there is no `cli/src/b.rs`: name the file that the walk goes through",
                "ARCHITECTURE.md:3: walks: there is no `cli/src/c.rs`: name the file that the walk goes through",
            ]
        );
        assert!(check(document, |_| true).is_empty());
    }
}
