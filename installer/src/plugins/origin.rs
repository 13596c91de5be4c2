//! The record of who signed the archive of an installed plugin.

use std::path::Path;

use link_platform::fs;
use serde::{Deserialize, Serialize};

use super::ORIGIN;

/// The size limit of the record, in bytes.
const LIMIT: u64 = 4 * 1024;

/// The origin of a plugin that was installed from an archive.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Origin {
    /// The signer: the id of a key that the owner added, or `release` for all release keys.
    pub signed_by: String,
    /// The serial number of the archive among those of its signer.
    pub serial: u64,
}

impl Origin {
    /// Reads the record in the folder of an installed plugin. None for a plugin that was installed from a folder.
    #[must_use]
    pub fn of(folder: &Path) -> Option<Self> {
        let text = fs::read_plain(&folder.join(ORIGIN), LIMIT).ok()?;
        serde_json::from_str(&text).ok()
    }

    pub(super) fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("the members are a string and a number")
    }
}
