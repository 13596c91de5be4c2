//! The receipt: what an installation made, so that taking it away deletes that and no more.

use std::path::{Path, PathBuf};

use link_platform::fs::{self, FileError};
use serde::{Deserialize, Serialize};

/// The list of what was made.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Receipt {
    pub version: String,
    /// Programs and the hexadecimal SHA-256 of each.
    pub files: Vec<InstalledFile>,
    /// Pointers that were made.
    pub pointers: Vec<PathBuf>,
    /// Folders that did not exist before, from the outermost inwards.
    pub folders: Vec<PathBuf>,
}

/// A program that was installed.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct InstalledFile {
    pub path: PathBuf,
    pub sha256: String,
}

impl Receipt {
    /// Reads the receipt at `path`; nothing when there is none that can be read.
    #[must_use]
    pub fn read(path: &Path) -> Option<Self> {
        serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
    }

    /// Writes the receipt to `path`.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), FileError> {
        fs::write_atomic(path, self.to_text().as_bytes())
    }

    fn to_text(&self) -> String {
        let text = serde_json::to_string_pretty(self).expect("a receipt has only string keys");
        format!("{text}\n")
    }
}
