//! Completions and manual pages: outside of the versions, because the shells look there.

use std::path::PathBuf;

/// One of them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SharedFile {
    pub path: PathBuf,
    pub contents: Vec<u8>,
}
