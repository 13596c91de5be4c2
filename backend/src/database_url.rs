//! Reads the URL of the database: from a file, or from the environment.

#![expect(clippy::disallowed_methods, reason = "IO shell: reads a file and the environment")]

use std::env;

use anyhow::Context as _;
use link_protocol::secret::Secret;

use crate::args::Database;

const VARIABLE: &str = "LINK_BACKEND_DATABASE_URL";

/// Returns the URL, if there is one; a file goes before the environment.
pub(crate) fn read(database: &Database) -> anyhow::Result<Option<Secret>> {
    let text =
        match &database.database_url_file {
            Some(path) => Some(std::fs::read_to_string(path).with_context(|| {
                format!("failed to read the database URL in `{}`", path.display())
            })?),
            None => env::var(VARIABLE).ok(),
        };
    let line = text.as_deref().map(|text| text.lines().next().unwrap_or_default().trim());
    match line {
        Some("") if database.database_url_file.is_some() => {
            anyhow::bail!("the file of the database URL is empty; its first line is the URL")
        }
        Some("") | None => Ok(None),
        Some(line) => Ok(Some(Secret::new(line))),
    }
}
