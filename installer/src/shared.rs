//! Completions and manual pages. They are outside the versions' folders, in the folders that shells
//! and `man` search.

use std::path::PathBuf;

/// One completion or manual page.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SharedFile {
    pub path: PathBuf,
    pub contents: Vec<u8>,
}
