//! What is printed: progress on the standard error, results on the standard output.

use std::io::{self, Write as _};

use anyhow::Context as _;
use serde::Serialize;

/// Prints a line of progress.
pub(crate) fn say(line: &str) {
    // Nothing is left to be told when the standard error is closed.
    writeln!(io::stderr(), "{line}").unwrap_or(());
}

/// Prints a line of the result.
pub(crate) fn print(line: &str) -> anyhow::Result<()> {
    writeln!(io::stdout(), "{line}").context("failed to write to the standard output")
}

/// Prints a result: as JSON when that is wanted, else `text`.
pub(crate) fn finish<T: Serialize>(json: bool, result: &T, text: &str) -> anyhow::Result<()> {
    if json { print(&serde_json::to_string(result)?) } else { print(text) }
}
