//! Output: progress on standard error, results on standard output.

use std::io::{self, Write as _};

use anyhow::Context as _;
use serde::Serialize;

/// Prints a line of progress.
pub(crate) fn say(line: &str) {
    // If standard error is closed, nobody can read the message.
    writeln!(io::stderr(), "{line}").unwrap_or(());
}

/// Prints a line of the result.
pub(crate) fn print(line: &str) -> anyhow::Result<()> {
    writeln!(io::stdout(), "{line}").context("failed to write to the standard output")
}

/// Prints a result: as JSON if `json`, otherwise `text`.
pub(crate) fn finish<T: Serialize>(json: bool, result: &T, text: &str) -> anyhow::Result<()> {
    if json { print(&serde_json::to_string(result)?) } else { print(text) }
}
