//! The files that this backend publishes for devices: a release, the index of engines with its engines, and the
//! catalogue of models.
//!
//! `link-backend releases pull` fills a new folder, verifies every file in it, and then switches to that folder in one
//! step. The backend serves only files that the folder's list names, so a request can neither leave the folder nor list
//! it.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "IO shell: reads the folder of releases"
)]

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use link_platform::fs::{self, FileError};
use link_protocol::{command::Sha256Hex, file_name::FileName};
use serde::{Deserialize, Serialize};

mod fetch;
mod pull;

pub use self::{
    fetch::{FetchError, Place},
    pull::{Keys, PullError, Pulled, pull},
};

/// The file that names the served folder.
const CURRENT: &str = "current";
/// The list of the served files in a folder.
pub const LIST: &str = ".files.json";
/// The size limit of a list, in bytes.
const LIST_LIMIT: u64 = 4 * 1024 * 1024;

/// The folder of releases of a backend.
#[derive(Clone, Debug)]
pub struct Releases {
    folder: PathBuf,
}

/// The served files of a folder, and the newest versions that were ever served.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
struct List {
    /// The counter of the release.
    counter: u64,
    version: String,
    /// The serial number of the engine index.
    #[serde(default)]
    serial: Option<u64>,
    /// The serial number of the model catalogue.
    #[serde(default)]
    catalogue_serial: Option<u64>,
    files: BTreeMap<String, Listed>,
}

/// A served file.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Listed {
    size_bytes: u64,
    sha256: Sha256Hex,
}

/// An open file that is sent as the answer.
#[derive(Debug)]
pub(crate) struct Published {
    pub(crate) file: tokio::fs::File,
    pub(crate) size_bytes: u64,
    pub(crate) sha256: Sha256Hex,
    /// Whether the content never changes under this name.
    pub(crate) is_archive: bool,
}

impl List {
    fn to_text(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("the names are strings")
    }
}

impl Releases {
    /// Returns the folder of releases in the data folder `data`.
    #[must_use]
    pub fn in_folder(data: &Path) -> Self {
        Self { folder: data.join("releases") }
    }

    /// Opens a served file. Returns `None` if the list does not contain the name.
    ///
    /// # Errors
    /// If a listed file cannot be read.
    pub(crate) async fn open(&self, name: &str) -> io::Result<Option<Published>> {
        let Ok(name) = name.parse::<FileName>() else { return Ok(None) };
        let Some((folder, mut list)) = self.current() else { return Ok(None) };
        let Some(listed) = list.files.remove(name.as_str()) else { return Ok(None) };
        let file = tokio::fs::File::open(folder.join(name.as_str())).await?;
        if file.metadata().await?.len() != listed.size_bytes {
            return Err(io::Error::other("the file has changed since it was verified"));
        }
        let Listed { size_bytes, sha256 } = listed;
        let is_archive = name.as_str().ends_with(".gz");
        Ok(Some(Published { file, size_bytes, sha256, is_archive }))
    }

    /// Returns the served folder and its list.
    fn current(&self) -> Option<(PathBuf, List)> {
        let name = fs::read_limited(&self.folder.join(CURRENT), 4096).ok()?;
        let name: FileName = name.trim().parse().ok()?;
        let folder = self.folder.join(name.as_str());
        let list = fs::read_limited(&folder.join(LIST), LIST_LIMIT).ok()?;
        Some((folder, serde_json::from_str(&list).ok()?))
    }

    /// Serves the folder `staged` from now on, and deletes the previously served folder.
    fn publish(&self, staged: &Path, name: &str, list: &List) -> Result<(), FileError> {
        fs::write_atomic(&staged.join(LIST), &list.to_text())?;
        fs::rename(staged, &self.folder.join(name))?;
        fs::write_atomic(&self.folder.join(CURRENT), format!("{name}\n").as_bytes())?;
        for entry in std::fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let other = entry.file_name();
            if entry.path().is_dir() && other != *name {
                fs::remove_dir(&entry.path())?;
            }
        }
        Ok(())
    }
}
