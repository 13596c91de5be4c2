//! The table in `docs/specification.md`, and the tests that claim its rows.
//!
//! A test claims rows with `// Holds: S3.1-2, S4.1-1` directly above it or inside it. A row is
//! `held` if a test claims it, otherwise `open`. The document must agree, and every claim must name
//! an existing row.

use std::collections::{BTreeMap, BTreeSet};

use crate::tidy::{Finding, lexer::RustFile};

/// The path of the table.
pub(crate) const PATH: &str = "docs/specification.md";

const HELD: &str = "held";
const OPEN: &str = "open";
const RULE: &str = "specification";
const MARK: &str = "// Holds:";

/// A row of the table.
pub(crate) struct Row {
    id: String,
    line: usize,
    state: String,
}

/// A test that names a row.
pub(crate) struct Claim {
    id: String,
    path: String,
    line: usize,
}

/// Reads the rows of `document` and reports invalid ones.
pub(crate) fn rows(document: &str) -> (Vec<Row>, Vec<Finding>) {
    let mut rows = Vec::new();
    let mut findings = Vec::new();
    let mut seen = BTreeSet::new();
    for (index, text) in document.lines().enumerate() {
        let Some((id, state)) = cells(text) else { continue };
        let line = index + 1;
        if !is_id(id) {
            findings.push(finding(
                PATH,
                line,
                format!("`{id}` is not an id like `S3.1-2` or `S1-7a`"),
            ));
        }
        if !seen.insert(id.to_owned()) {
            findings.push(finding(PATH, line, format!("`{id}` is listed twice")));
        }
        rows.push(Row { id: id.to_owned(), line, state: state.to_owned() });
    }
    (rows, findings)
}

/// Returns the claims of all tests, and a finding for each comment that looks like a claim but is
/// none.
pub(crate) fn claims(files: &[RustFile]) -> (Vec<Claim>, Vec<Finding>) {
    let mut claims = Vec::new();
    let mut findings = Vec::new();
    for file in files {
        let code: Vec<&str> = file.code.lines().collect();
        for (index, comment) in file.comments.lines().enumerate() {
            let Some(list) = claimed(comment) else { continue };
            let line = index + 1;
            if !belongs_to_a_test(&code, index, indentation(comment)) {
                findings.push(finding(
                    &file.path,
                    line,
                    "put the claim directly above a test or inside it".to_owned(),
                ));
            }
            for id in list.split(',').map(str::trim) {
                if is_id(id) {
                    claims.push(Claim { id: id.to_owned(), path: file.path.clone(), line });
                } else {
                    findings.push(finding(
                        &file.path,
                        line,
                        format!("write `{MARK} S3.1-2, S4.1-1`, not `{id}`"),
                    ));
                }
            }
        }
    }
    (claims, findings)
}

/// Compares the document with the claims.
pub(crate) fn check(rows: &[Row], claims: &[Claim]) -> Vec<Finding> {
    let known: BTreeSet<&str> = rows.iter().map(|row| row.id.as_str()).collect();
    let unknown = claims
        .iter()
        .filter(|claim| !known.contains(claim.id.as_str()))
        .map(|claim| finding(&claim.path, claim.line, format!("`{}` is not in {PATH}", claim.id)));
    let untrue = rows.iter().filter_map(|row| {
        let state = state_of(&row.id, claims);
        let message =
            format!("`{}` is {state}, not `{}`; run `cargo xtask tidy --write`", row.id, row.state);
        (row.state != state).then(|| finding(PATH, row.line, message))
    });
    unknown.chain(untrue).collect()
}

/// Returns `document` with an updated state column.
pub(crate) fn rewrite(document: &str, claims: &[Claim]) -> String {
    let mut text = String::with_capacity(document.len());
    for line in document.split_inclusive('\n') {
        match cells(line) {
            Some((id, state)) => {
                let end = line.trim_end().len() - 1;
                let start = line[..end].rfind(state).unwrap_or(end);
                text.push_str(&line[..start]);
                text.push_str(state_of(id, claims));
                text.push_str(&line[start + state.len()..]);
            }
            None => text.push_str(line),
        }
    }
    text
}

/// Returns the number of held rows, and the ids of the other rows, one line per section.
pub(crate) fn open_rows(rows: &[Row]) -> String {
    let mut sections: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let open: Vec<&Row> = rows.iter().filter(|row| row.state != HELD).collect();
    for row in &open {
        let section = row.id.split('-').next().unwrap_or_default();
        sections.entry(section).or_default().push(&row.id);
    }
    let mut text = format!(
        "specification: {} of {} rows are held by tests, {} are open",
        rows.len() - open.len(),
        rows.len(),
        open.len()
    );
    for ids in sections.values() {
        text.push_str("\n  ");
        text.push_str(&ids.join(" "));
    }
    text
}

fn finding(path: &str, line: usize, message: String) -> Finding {
    Finding { path: path.to_owned(), line, rule: RULE, message }
}

fn state_of(id: &str, claims: &[Claim]) -> &'static str {
    if claims.iter().any(|claim| claim.id == id) { HELD } else { OPEN }
}

/// Returns the first and the last cell of a table row that begins with an id.
fn cells(line: &str) -> Option<(&str, &str)> {
    let inner = line.trim_end().strip_prefix("| S")?.strip_suffix('|')?;
    let (id, rest) = inner.split_once('|')?;
    let (_, state) = rest.rsplit_once('|')?;
    let id = &line[2..2 + 1 + id.len()];
    Some((id.trim(), state.trim()))
}

/// Returns whether a text consists of `S`, a section, `-`, a row and an optional letter.
fn is_id(text: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    let Some((section, row)) = text.strip_prefix('S').and_then(|rest| rest.split_once('-')) else {
        return false;
    };
    let row = row.strip_suffix(|c: char| c.is_ascii_lowercase()).unwrap_or(row);
    number(row) && section.split('.').all(number) && section.split('.').count() <= 2
}

/// Returns the list of rows in a comment that claims rows or tries to.
fn claimed(comment: &str) -> Option<&str> {
    let comment = comment.trim();
    if let Some(list) = comment.strip_prefix(MARK) {
        return Some(list);
    }
    let words = comment.strip_prefix("//")?.trim_start_matches(['/', '!']).trim_start();
    let rest =
        words.get(..5).filter(|word| word.eq_ignore_ascii_case("holds")).map(|_| &words[5..])?;
    let first = rest.trim_start_matches([':', ' ']);
    is_id(first.split([',', ' ']).next().unwrap_or_default()).then_some(words)
}

/// Returns whether the next item is a test, or the comment, which is indented by `indent`, is
/// inside a test.
fn belongs_to_a_test(code: &[&str], comment: usize, indent: usize) -> bool {
    let after = (comment + 1..code.len()).find(|&index| !code[index].trim().is_empty());
    let before = (0..comment).rev().find(|&index| !code[index].trim().is_empty());
    let item =
        after.and_then(|after| (after..code.len()).find(|&index| !is_attribute(code[index])));
    let in_attributes =
        [after, before].into_iter().flatten().any(|index| is_attribute(code[index]));
    if in_attributes {
        return item.is_some_and(|item| is_test(code, item));
    }
    let opens_around =
        |&index: &usize| is_function(code[index]) && indentation(code[index]) < indent;
    (0..comment).rev().find(opens_around).is_some_and(|function| is_test(code, function))
}

/// Returns whether an attribute directly above the item makes it a test.
pub(crate) fn is_test(code: &[&str], item: usize) -> bool {
    let above = code[..item].iter().rev().map(|line| line.trim()).filter(|line| !line.is_empty());
    above.take_while(|line| is_attribute(line)).any(is_test_attribute)
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn is_attribute(line: &str) -> bool {
    line.trim_start().starts_with("#[")
}

fn is_test_attribute(line: &str) -> bool {
    let name = line.trim_start_matches("#[").split(['(', ']']).next().unwrap_or_default();
    name == "test" || name.ends_with("::test")
}

/// Returns whether a line starts a function.
pub(crate) fn is_function(line: &str) -> bool {
    line.split_whitespace().any(|word| word == "fn") && !line.trim_start().starts_with("let ")
}

#[cfg(test)]
mod tests;
