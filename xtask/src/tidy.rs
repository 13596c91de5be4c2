//! Rules that no compiler checks.
//!
//! The rules are functions from the text of files to findings; only this module and `files` access
//! the disk. A finding names a file, a line and the rule. Any finding fails `cargo xtask tidy` and
//! `cargo test -p xtask`.

#![expect(
    clippy::disallowed_methods,
    reason = "IO shell: reads and rewrites the specification's table"
)]

mod edges;
mod files;
mod items;
mod known;
mod lexer;
mod modules;
mod paths;
mod rules;
mod samples;
mod specification;
mod threats;
mod walks;

use std::{fmt, path::Path};

use anyhow::Context as _;

use crate::tidy::{files::TextFile, known::Known, lexer::RustFile};

/// One violation of a rule.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Finding {
    path: String,
    line: usize,
    rule: &'static str,
    message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}: {}", self.path, self.line, self.rule, self.message)
    }
}

/// The result of a run.
pub(crate) struct Report {
    pub(crate) findings: Vec<Finding>,
    rows: Vec<specification::Row>,
    crates: Vec<modules::Crate>,
}

impl Report {
    /// Returns, as text, which module imports which in the crates below `folder`.
    pub(crate) fn graphs(&self, folder: &str) -> String {
        modules::graphs(&self.crates, folder)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&specification::open_rows(&self.rows))?;
        write!(f, "\n{}", modules::summary(&self.crates).trim_end())?;
        for finding in &self.findings {
            write!(f, "\n{finding}")?;
        }
        match self.findings.len() {
            0 => f.write_str("\ntidy: no findings"),
            count => write!(f, "\ntidy: {count} findings"),
        }
    }
}

/// Returns doc lines of the repository at `root`, drawn by `seed`.
pub(crate) fn sample_docs(root: &Path, seed: u64) -> anyhow::Result<String> {
    let texts = files::read(root)?.into_iter().filter(|file| file.path.ends_with(".rs"));
    let sources: Vec<RustFile> = texts.map(RustFile::from).collect();
    Ok(samples::draw(&sources, seed))
}

/// Checks the repository at `root`; with `write`, first updates the specification's state column.
pub(crate) fn run(root: &Path, write: bool) -> anyhow::Result<Report> {
    let texts = files::read(root)?;
    let (manifests, sources): (Vec<_>, Vec<_>) =
        texts.into_iter().partition(|file| file.path.ends_with(".toml"));
    let sources: Vec<RustFile> = sources.into_iter().map(RustFile::from).collect();

    let read = |path: &str| {
        let path = root.join(path);
        std::fs::read_to_string(&path)
            .with_context(|| format!("failed to read `{}`", path.display()))
    };
    let mut findings = edges::check(&manifests)?;
    let crates = modules::read(&manifests, &sources);
    let listed = read(known::PATH)?;
    let mut known = Known::read(&listed);
    findings.extend(modules::check(&crates, &mut known));
    findings.extend(items::check(&sources, &mut known));
    findings.extend(known.rest());
    for source in &sources {
        findings.extend(rules::check(source));
    }

    let document = root.join(specification::PATH);
    let mut text = read(specification::PATH)?;
    let (claims, misplaced) = specification::claims(&sources);
    findings.extend(misplaced);
    if write {
        text = specification::rewrite(&text, &claims);
        std::fs::write(&document, &text)
            .with_context(|| format!("failed to write `{}`", document.display()))?;
    }
    let (rows, broken) = specification::rows(&text);
    findings.extend(broken);
    findings.extend(specification::check(&rows, &claims));
    findings.extend(threats::check(&read(threats::THREATS)?, &read(threats::TESTS)?, &sources));
    findings.extend(walks::check(&read(walks::PATH)?, &sources));
    findings.sort();
    Ok(Report { findings, rows, crates })
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_repository_is_tidy() {
        let report = super::run(crate::repository(), false).unwrap();
        assert!(report.findings.is_empty(), "{report}");
    }
}
