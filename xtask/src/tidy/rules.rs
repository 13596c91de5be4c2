//! Rules for single Rust files: where `cfg` on operating systems and IO are allowed, how long a file may be, and what
//! it must and must not contain.

use crate::tidy::{
    Finding,
    lexer::RustFile,
    paths::{NamedPath, named_paths},
};

/// The maximum length of a product file, without its inline tests.
const PRODUCT_LINES: usize = 400;
/// The maximum length of a test file.
const TEST_LINES: usize = 800;

/// Path prefixes of pure code, which decides and does no IO.
const PURE_PLACES: &[&str] = &[
    "protocol/src/",
    "agent/core/src/",
    "backend/src/domain",
    "cli/src/doctor",
    "cli/src/local_logs",
    "cli/src/redaction",
    "installer/src/decide",
];
/// Path prefixes that pure code must not name.
const IMPURE_ROOTS: &[&[&str]] = &[
    &["std", "fs"],
    &["std", "net"],
    &["std", "process"],
    &["std", "thread"],
    &["std", "env"],
    &["tokio"],
    &["sqlx"],
    &["rusqlite"],
    &["reqwest"],
];
/// Exceptions: network addresses are values.
const ADDRESSES: &[&str] = &[
    "IpAddr",
    "Ipv4Addr",
    "Ipv6Addr",
    "SocketAddr",
    "SocketAddrV4",
    "SocketAddrV6",
    "AddrParseError",
];
/// Functions that pure code must not call: the clocks.
const IMPURE_CALLS: &[[&str; 2]] =
    &[["Instant", "now"], ["SystemTime", "now"], ["Timestamp", "now"], ["Zoned", "now"]];

/// The words in a `cfg` that refer to an operating system.
const SYSTEM_WORDS: &[&str] = &["unix", "windows", "target_os", "target_family"];

/// Returns the findings in `file`.
pub(crate) fn check(file: &RustFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(module_docs(file));
    findings.extend(length(file));
    findings.extend(system_cfg(file));
    findings.extend(purity(file));
    findings.extend(silenced_lints(file));
    findings.extend(unfinished_work(file));
    findings
}

fn finding(
    file: &RustFile,
    line: usize,
    rule: &'static str,
    message: impl Into<String>,
) -> Finding {
    Finding { path: file.path.clone(), line, rule, message: message.into() }
}

fn module_docs(file: &RustFile) -> Option<Finding> {
    let first = file.text.lines().find(|line| !line.trim().is_empty());
    match first {
        Some(line) if line.starts_with("//!") => None,
        Some(_) | None => Some(finding(
            file,
            1,
            "module-docs",
            "open the file with a `//!` comment saying what it decides or does",
        )),
    }
}

fn length(file: &RustFile) -> Option<Finding> {
    let (lines, limit) = if file.is_test() {
        (file.text.lines().count(), TEST_LINES)
    } else {
        (file.product_lines(), PRODUCT_LINES)
    };
    (lines > limit).then(|| {
        finding(
            file,
            limit + 1,
            "length",
            format!("{lines} lines are more than {limit}; split the file"),
        )
    })
}

fn system_cfg(file: &RustFile) -> Vec<Finding> {
    if file.path.starts_with("platform/") {
        return Vec::new();
    }
    let message = "only `platform` may distinguish operating systems";
    system_cfg_lines(&file.code)
        .into_iter()
        .map(|line| finding(file, line, "system-cfg", message))
        .collect()
}

/// Returns the lines on which a `cfg`, `cfg!` or `cfg_attr` names an operating system.
fn system_cfg_lines(code: &str) -> Vec<usize> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut lines = Vec::new();
    for (at, _) in code.match_indices("cfg") {
        let after = &code[at + 3..];
        let after = after.strip_prefix("_attr").unwrap_or(after).trim_start();
        let after = after.strip_prefix('!').unwrap_or(after).trim_start();
        if code[..at].ends_with(is_word) || !after.starts_with('(') {
            continue;
        }
        if balanced(after).split(|c| !is_word(c)).any(|word| SYSTEM_WORDS.contains(&word)) {
            lines.push(code[..at].lines().count().max(1));
        }
    }
    lines
}

/// Returns the text up to the parenthesis that closes the first one.
fn balanced(text: &str) -> &str {
    let mut depth = 0_usize;
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' if depth <= 1 => return &text[..at],
            ')' => depth -= 1,
            _ => {}
        }
    }
    text
}

fn purity(file: &RustFile) -> Vec<Finding> {
    let is_pure = PURE_PLACES.iter().any(|place| file.path.starts_with(place));
    if !is_pure || file.is_test() {
        return Vec::new();
    }
    let product: Vec<&str> = file.code.lines().take(file.product_lines()).collect();
    named_paths(&product.join("\n"))
        .iter()
        .filter_map(|path| Some((path.line, impure(path)?)))
        .map(|(line, what)| {
            finding(
                file,
                line,
                "purity",
                format!(
                    "`{what}` does IO in pure code: take its result as an argument or return an effect"
                ),
            )
        })
        .collect()
}

fn impure(path: &NamedPath) -> Option<String> {
    let segments: Vec<&str> = path.segments.iter().map(String::as_str).collect();
    let is_address = segments.starts_with(&["std", "net"])
        && segments.get(2).is_some_and(|name| ADDRESSES.contains(name));
    if is_address {
        return None;
    }
    let root = IMPURE_ROOTS.iter().find(|root| segments.starts_with(root));
    let call = IMPURE_CALLS.iter().find(|call| segments.windows(2).any(|pair| pair == *call));
    root.map(|root| root.join("::")).or_else(|| call.map(|call| call.join("::")))
}

fn silenced_lints(file: &RustFile) -> Vec<Finding> {
    let silences = |line: &str| {
        let line: String = line.split_whitespace().collect();
        line.contains("#[allow(") || line.contains("#![allow(")
    };
    lines_where(&file.code, silences)
        .map(|line| finding(file, line, "no-allow", "use `#[expect(..., reason = \"...\")]`"))
        .collect()
}

fn unfinished_work(file: &RustFile) -> Vec<Finding> {
    let unnumbered = |line: &str| {
        let is_mark = |word: &str| word == "TODO" || word == "FIXME";
        let numbered =
            line.split('#').skip(1).any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        line.split(|c: char| !c.is_alphanumeric()).any(is_mark) && !numbered
    };
    lines_where(&file.comments, unnumbered)
        .map(|line| finding(file, line, "unfinished-work", "name the issue: `#123`"))
        .collect()
}

fn lines_where<'a>(
    text: &'a str,
    matches: impl Fn(&str) -> bool + 'a,
) -> impl Iterator<Item = usize> + 'a {
    text.lines().enumerate().filter(move |(_, line)| matches(line)).map(|(index, _)| index + 1)
}

#[cfg(test)]
mod tests;
