//! The list of known findings that are not fixed yet. The list may only shrink.
//!
//! Each line suppresses one finding. A finding without a line is reported, and so is a line without
//! a finding.

use std::collections::BTreeMap;

use crate::tidy::Finding;

/// The path of the list.
pub(crate) const PATH: &str = "xtask/known-findings.txt";

/// The lines that have not matched a finding yet, each with its line number.
pub(crate) struct Known<'a>(BTreeMap<&'a str, usize>);

impl<'a> Known<'a> {
    /// Reads the list. Empty lines and lines that begin with `#` are comments.
    pub(crate) fn read(text: &'a str) -> Self {
        let lines = text.lines().enumerate().map(|(index, line)| (line.trim(), index + 1));
        Self(lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#')).collect())
    }

    /// Returns whether `line` is known. Each line matches once.
    pub(crate) fn take(&mut self, line: &str) -> bool {
        self.0.remove(line).is_some()
    }

    /// Returns a finding for each line that has matched nothing.
    pub(crate) fn rest(self) -> impl Iterator<Item = Finding> {
        self.0.into_iter().map(|(known, line)| Finding {
            path: PATH.to_owned(),
            line,
            rule: "known",
            message: format!("`{known}` is fixed: delete this line"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_good_for_one_finding_and_refused_without_one() {
        let mut known = Known::read("# For people.\n\n a -> b \nc -> d\n");
        assert!(known.take("a -> b"));
        assert!(!known.take("a -> b"));
        assert!(!known.take("# For people."));
        let rest: Vec<_> = known.rest().map(|finding| finding.to_string()).collect();
        assert_eq!(
            rest,
            ["xtask/known-findings.txt:4: known: `c -> d` is fixed: delete this line"]
        );
    }
}
