//! What is known and not mended yet: a list that gets shorter.
//!
//! A line of the file stands for one finding, which is quiet as long as the line is there. A finding without a line is
//! refused, and so is a line whose finding is gone.

use std::collections::BTreeMap;

use crate::tidy::Finding;

/// Where the list stands.
pub(crate) const PATH: &str = "xtask/known-findings.txt";

/// The lines that no finding was seen for yet, each with its number.
pub(crate) struct Known<'a>(BTreeMap<&'a str, usize>);

impl<'a> Known<'a> {
    /// Reads the list; empty lines and those that begin with `#` are for people.
    pub(crate) fn read(text: &'a str) -> Self {
        let lines = text.lines().enumerate().map(|(index, line)| (line.trim(), index + 1));
        Self(lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#')).collect())
    }

    /// Tells whether `line` is known. Each line is known once.
    pub(crate) fn take(&mut self, line: &str) -> bool {
        self.0.remove(line).is_some()
    }

    /// Returns a finding for each line that stands for nothing any more.
    pub(crate) fn rest(self) -> impl Iterator<Item = Finding> {
        self.0.into_iter().map(|(known, line)| Finding {
            path: PATH.to_owned(),
            line,
            rule: "known",
            message: format!("`{known}` is mended: delete this line"),
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
            ["xtask/known-findings.txt:4: known: `c -> d` is mended: delete this line"]
        );
    }
}
