//! The receipt: lists what an installation has created, so that an uninstallation deletes exactly that.

use std::path::{Path, PathBuf};

use link_platform::fs::{self, FileError};
use link_protocol::release::Channel;
use serde::{Deserialize, Serialize};

use crate::state_file::{self, StateError};

/// The next step if the receipt is damaged.
const NEXT_STEP: &str = "run install.sh again, which makes it anew";

/// The list of what an installation has created.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Receipt {
    /// The address of the folder of releases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The versions on disk. `current` points to the one that runs.
    pub versions: Vec<InstalledVersion>,
    /// Completions and manual pages, with the hashes of their contents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<InstalledFile>,
    /// Pointers that were created.
    pub pointers: Vec<PathBuf>,
    /// Folders that did not exist before, from the outermost inwards.
    pub folders: Vec<PathBuf>,
    /// The unit that starts the guard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<InstalledUnit>,
    /// The user for whom we asked systemd to run services without a login.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linger: Option<String>,
    /// Files of the shells that hold our block.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path_files: Vec<PathFile>,
}

/// A version that was laid out.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct InstalledVersion {
    pub version: String,
    /// The data of the signed release. None if its signature was not checked.
    #[serde(default)]
    pub release: Option<InstalledRelease>,
    /// The hexadecimal SHA-256 of its archive, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archive: Option<String>,
    /// Programs and the hexadecimal SHA-256 of each.
    pub files: Vec<InstalledFile>,
}

/// A unit that was created.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct InstalledUnit {
    pub path: PathBuf,
    /// The hexadecimal SHA-256 of each text that we wrote there.
    pub written: Vec<String>,
    /// The variables of the last text. They are kept until they get new values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<(String, String)>,
}

/// A file of a shell that was edited.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct PathFile {
    pub path: PathBuf,
    /// The file did not exist before.
    pub created: bool,
}

/// A release whose signature was verified.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct InstalledRelease {
    pub channel: Channel,
    /// A release with a lower counter is refused.
    pub counter: u64,
    /// The id of the key that signed the release.
    pub kid: String,
}

/// A file that was installed.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct InstalledFile {
    pub path: PathBuf,
    pub sha256: String,
}

impl Receipt {
    /// Reads the receipt at `path`. None if there is none.
    ///
    /// # Errors
    /// When it cannot be read or is damaged.
    pub fn load(path: &Path) -> Result<Option<Self>, StateError> {
        state_file::read(path, NEXT_STEP)
    }

    /// Reads the receipt at `path`, to show or compare it. None if it is missing or
    /// unreadable.
    #[must_use]
    pub fn read(path: &Path) -> Option<Self> {
        Self::load(path).ok().flatten()
    }

    /// Writes the receipt to `path`.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), FileError> {
        fs::write_atomic(path, self.to_text().as_bytes())
    }

    /// Returns the entry of `version`.
    #[must_use]
    pub fn version(&self, version: &str) -> Option<&InstalledVersion> {
        self.versions.iter().find(|installed| installed.version == version)
    }

    /// Returns the channel of `version`, or the default channel if it is unknown.
    #[must_use]
    pub fn channel(&self, version: &str) -> Channel {
        let release = self.version(version).and_then(|installed| installed.release.as_ref());
        release.map(|release| release.channel).unwrap_or_default()
    }

    /// Replaces the entry of the same version with `installed`.
    pub fn set_version(&mut self, installed: InstalledVersion) {
        self.versions.retain(|other| other.version != installed.version);
        self.versions.push(installed);
    }

    /// Adds the folders that creating `place` creates. Must be written before they are created.
    pub fn add_folders(&mut self, place: &Path) {
        let mut missing: Vec<_> = place
            .ancestors()
            .take_while(|folder| !folder.exists())
            .filter(|folder| !self.folders.iter().any(|known| known == folder))
            .map(Path::to_owned)
            .collect();
        missing.reverse();
        self.folders.append(&mut missing);
    }

    fn to_text(&self) -> String {
        let text = serde_json::to_string_pretty(self).expect("a receipt has only string keys");
        format!("{text}\n")
    }
}
