//! The receipt lists what an installation has created, so that an uninstallation deletes exactly that.

use std::path::{Path, PathBuf};

use link_platform::fs::{self, FileError};
use link_protocol::release::Channel;
use serde::{Deserialize, Serialize};

use crate::state_file::{self, StateError};

/// The next step if the receipt is damaged.
const NEXT_STEP: &str = "run install.sh again to rebuild it";

/// The receipt: everything that an installation has created.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Receipt {
    /// The address of the folder of releases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The versions on disk. `current` points to one of them.
    pub versions: Vec<InstalledVersion>,
    /// Completions and manual pages, with the hashes of their contents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<InstalledFile>,
    /// Symbolic links that were created.
    pub pointers: Vec<PathBuf>,
    /// Folders that did not exist before, outermost first.
    pub folders: Vec<PathBuf>,
    /// The unit that starts the guard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<InstalledUnit>,
    /// The user for whom systemd was asked to run services without a login.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linger: Option<String>,
    /// Start files of the shells that hold our block.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path_files: Vec<PathFile>,
}

/// An installed version.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct InstalledVersion {
    pub version: String,
    /// The signed release. None if its signature was not verified.
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
    /// The hexadecimal SHA-256 of each text that we wrote to the unit.
    pub written: Vec<String>,
    /// The variables in the last text. They stay in the unit until they get new values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<(String, String)>,
}

/// A start file of a shell that was edited.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct PathFile {
    pub path: PathBuf,
    /// Whether the edit created the file.
    pub created: bool,
}

/// A release whose signature was verified.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct InstalledRelease {
    pub channel: Channel,
    /// The counter of the release. A release with a lower counter is refused.
    pub counter: u64,
    /// The id of the key that signed the release.
    pub kid: String,
}

/// An installed file.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct InstalledFile {
    pub path: PathBuf,
    pub sha256: String,
}

impl Receipt {
    /// Reads the receipt at `path`. None if it does not exist.
    ///
    /// # Errors
    /// If the receipt cannot be read or is damaged.
    pub fn load(path: &Path) -> Result<Option<Self>, StateError> {
        state_file::read(path, NEXT_STEP)
    }

    /// Reads the receipt at `path`, to show or compare it. None if it is missing, unreadable or damaged.
    #[must_use]
    pub fn read(path: &Path) -> Option<Self> {
        Self::load(path).ok().flatten()
    }

    /// Writes the receipt to `path`.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), FileError> {
        fs::write_atomic(path, self.to_text().as_bytes())
    }

    /// Returns the entry of `version`.
    #[must_use]
    pub fn version(&self, version: &str) -> Option<&InstalledVersion> {
        self.versions.iter().find(|installed| installed.version == version)
    }

    /// Returns the channel of `version`, or the default channel if the receipt does not name it.
    #[must_use]
    pub fn channel(&self, version: &str) -> Channel {
        let release = self.version(version).and_then(|installed| installed.release.as_ref());
        release.map(|release| release.channel).unwrap_or_default()
    }

    /// Adds `installed`, in place of an entry of the same version.
    pub fn set_version(&mut self, installed: InstalledVersion) {
        self.versions.retain(|other| other.version != installed.version);
        self.versions.push(installed);
    }

    /// Lists the folders that the creation of `place` will create. Call this and write the receipt before creating
    /// them.
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
