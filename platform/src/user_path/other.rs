//! Systems without such a value.

use std::{io, path::PathBuf};

#[expect(clippy::unnecessary_wraps, reason = "fails on other systems")]
pub(super) const fn read() -> io::Result<Option<String>> {
    Ok(None)
}

pub(super) fn write(_text: &str) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn remove() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) const fn searched_folders() -> Vec<PathBuf> {
    Vec::new()
}
