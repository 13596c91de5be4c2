//! The threats in `SECURITY.md` and the tests that cover them.
//!
//! `docs/threats.md` has a section for each threat, whose heading is the bold name of the threat.
//! The section lists the tests of the defence: `` - `tests/it/serving.rs`:
//! `pages_reach_only_what_they_should` ``. Every threat has at least one test, every listed test
//! exists in the named file, and every section belongs to a threat.

use std::collections::BTreeMap;

use crate::tidy::{
    Finding,
    lexer::RustFile,
    specification::{is_function, is_test},
};

/// The path of the threats.
pub(crate) const THREATS: &str = "SECURITY.md";
/// The path of the list of tests.
pub(crate) const TESTS: &str = "docs/threats.md";

const RULE: &str = "threats";
const HEADING: &str = "## ";
const ITEM: &str = "- ";

/// A threat, or the heading of its section.
struct Named<'a> {
    name: &'a str,
    line: usize,
}

/// A section of the list of tests.
struct Section<'a> {
    threat: Named<'a>,
    tests: usize,
}

/// Compares the threats, the list of their tests, and the existing tests.
pub(crate) fn check(threats: &str, tests: &str, files: &[RustFile]) -> Vec<Finding> {
    let threats = rows(threats);
    let (sections, mut findings) = sections(tests, files);
    if threats.is_empty() {
        findings.push(finding(THREATS, 1, "no row of the table begins with a bold name".into()));
    }
    for threat in &threats {
        let own: Vec<&Section<'_>> =
            sections.iter().filter(|section| section.threat.name == threat.name).collect();
        let message = match own.as_slice() {
            [] => format!("`{}` has no section in {TESTS}", threat.name),
            [section] if section.tests == 0 => {
                format!("{TESTS} lists no test of `{}`", threat.name)
            }
            [_] => continue,
            [_, ..] => format!("`{}` has several sections in {TESTS}", threat.name),
        };
        findings.push(finding(THREATS, threat.line, message));
    }
    let left_over =
        sections.iter().filter(|one| !threats.iter().any(|threat| threat.name == one.threat.name));
    findings.extend(left_over.map(|section| {
        let message = format!("`{}` is not a threat in {THREATS}", section.threat.name);
        finding(TESTS, section.threat.line, message)
    }));
    findings
}

/// Returns the threats: the bold names at the beginning of table rows.
fn rows(document: &str) -> Vec<Named<'_>> {
    document
        .lines()
        .enumerate()
        .filter_map(|(index, line)| {
            let (name, _) = line.strip_prefix("| **")?.split_once("**")?;
            Some(Named { name, line: index + 1 })
        })
        .collect()
}

/// Returns the sections with their number of tests, and findings about the listed tests.
fn sections<'a>(document: &'a str, files: &[RustFile]) -> (Vec<Section<'a>>, Vec<Finding>) {
    let known: BTreeMap<&str, &RustFile> =
        files.iter().map(|file| (file.path.as_str(), file)).collect();
    let mut sections: Vec<Section<'_>> = Vec::new();
    let mut findings = Vec::new();
    for (index, text) in document.lines().enumerate() {
        let line = index + 1;
        if let Some(name) = text.strip_prefix(HEADING) {
            sections.push(Section { threat: Named { name: name.trim(), line }, tests: 0 });
        }
        let Some(item) = text.strip_prefix(ITEM) else { continue };
        match named_tests(item) {
            Some((path, names)) => {
                let missing = names.iter().filter_map(|name| missing(known.get(path), path, name));
                findings.extend(missing.map(|message| finding(TESTS, line, message)));
                if let Some(section) = sections.last_mut() {
                    section.tests += names.len();
                }
            }
            None => {
                let message = "write ``- `folder/file.rs`: `a_test`, `another` ``".to_owned();
                findings.push(finding(TESTS, line, message));
            }
        }
    }
    (sections, findings)
}

/// Returns the file and the tests of a list item. A sentence may follow after a dash.
fn named_tests(item: &str) -> Option<(&str, Vec<&str>)> {
    let (path, rest) = item.strip_prefix('`')?.split_once("`: ")?;
    let list = rest.split_once(" – ").map_or(rest, |(list, _)| list);
    let names: Option<Vec<&str>> =
        list.split(", ").map(|name| name.trim().strip_prefix('`')?.strip_suffix('`')).collect();
    Some((path, names?))
}

/// Returns the reason why `name` is not a test of `file`. None if it is one.
fn missing(file: Option<&&RustFile>, path: &str, name: &str) -> Option<String> {
    let Some(file) = file else { return Some(format!("there is no `{path}`")) };
    let code: Vec<&str> = file.code.lines().collect();
    let opening = format!("fn {name}(");
    let is_it = |&index: &usize| code[index].contains(&opening) && is_function(code[index]);
    match (0..code.len()).find(is_it) {
        None => Some(format!("`{path}` has no `{name}`")),
        Some(index) if !is_test(&code, index) => {
            Some(format!("`{name}` in `{path}` is not a test"))
        }
        Some(_) => None,
    }
}

fn finding(path: &str, line: usize, message: String) -> Finding {
    Finding { path: path.to_owned(), line, rule: RULE, message }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::TextFile;

    const THREATS: &str = "| Threat | Answer |\n|---|---|\n\
        | **Fire** in the house | Water. |\n| **Water** everywhere | A boat. |\n";
    const GOOD: &str = "# Tests\n\n## Fire\n\n- `a/src/b.rs`: `water_puts_it_out`, `smoke_is_seen` – in a house\n\n\
        ## Water\n\nA sentence.\n\n- `a/src/b.rs`: `a_boat_swims`\n";

    fn found(threats: &str, tests: &str) -> Vec<String> {
        let text = "//! B.\n#[test]\nfn water_puts_it_out() {}\n#[tokio::test]\n#[ignore]\n\
            async fn smoke_is_seen() {}\nproptest! {\n    #[test]\n    fn a_boat_swims(size in 0..1) {}\n}\n\
            fn a_helper() {}\n";
        let file = TextFile { path: "a/src/b.rs".to_owned(), text: text.to_owned() };
        let found = check(threats, tests, &[RustFile::from(file)]);
        found
            .iter()
            .map(|finding| format!("{}:{}: {}", finding.path, finding.line, finding.message))
            .collect()
    }

    #[test]
    fn a_list_that_names_tests_of_each_threat_is_fine() {
        assert_eq!(found(THREATS, GOOD), [""; 0]);
    }

    #[test]
    fn a_threat_without_a_test_is_a_finding() {
        assert_eq!(
            found(THREATS, "## Fire\n\n## Fire\n"),
            [
                "SECURITY.md:3: `Fire` has several sections in docs/threats.md",
                "SECURITY.md:4: `Water` has no section in docs/threats.md",
            ]
        );
        let none = GOOD.replace("- `a/src/b.rs`: `a_boat_swims`", "");
        assert_eq!(
            found(THREATS, &none),
            ["SECURITY.md:4: docs/threats.md lists no test of `Water`"]
        );
        assert_eq!(found("", "").len(), 1);
    }

    #[test]
    fn a_test_that_is_not_there_is_a_finding() {
        for (name, message) in [
            ("`water_puts_it`", "`a/src/b.rs` has no `water_puts_it`"),
            ("`a_helper`", "`a_helper` in `a/src/b.rs` is not a test"),
            ("water_puts_it_out", "write ``- `folder/file.rs`: `a_test`, `another` ``"),
        ] {
            let list = GOOD.replace("`water_puts_it_out`", name);
            let found = found(THREATS, &list);
            assert!(found.contains(&format!("docs/threats.md:5: {message}")), "{found:?}");
        }
        let list = GOOD.replace("b.rs`: `a_boat", "c.rs`: `a_boat");
        assert_eq!(found(THREATS, &list), ["docs/threats.md:11: there is no `a/src/c.rs`"]);
    }

    #[test]
    fn a_section_about_no_threat_is_a_finding() {
        let list = format!("{GOOD}\n## Air\n\n- `a/src/b.rs`: `a_boat_swims`\n");
        assert_eq!(
            found(THREATS, &list),
            ["docs/threats.md:13: `Air` is not a threat in SECURITY.md"]
        );
    }
}
