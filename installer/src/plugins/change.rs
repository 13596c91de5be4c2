//! Installs and removes plugins.
//!
//! The new folder is complete before it replaces another one of the same id. An interrupted installation leaves the
//! previous plugin in use.

use std::{
    io,
    path::{Path, PathBuf},
};

use link_platform::{
    fs::{self, FileError, Lock},
    paths::Roots,
};
use link_protocol::plugin::Manifest;

use super::{OLD, Place, Plugin, PluginError, Plugins, read};

/// The most files of a plugin, and their most bytes together.
const FILES_LIMIT: usize = 64;
const BYTES_LIMIT: u64 = 4 * 1024 * 1024;
/// The folder of a plugin that is being installed.
const STAGED: &str = ".new";

/// A plugin could not be installed or removed.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    #[error("another command changes the plugins")]
    Busy,
    #[error(transparent)]
    Plugin(#[from] PluginError),
    #[error("`{}` is no plain file; a plugin has no links, no folders and no devices", .0.display())]
    NotPlain(PathBuf),
    #[error("the plugin has more than {FILES_LIMIT} files or {BYTES_LIMIT} bytes")]
    TooLarge,
    #[error("the plugin `{0}` is not installed")]
    Unknown(String),
    #[error("the plugin `{0}` belongs to this release and cannot be removed")]
    Shipped(String),
    #[error("failed to {doing} `{}`", .path.display())]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
    #[error(transparent)]
    File(#[from] FileError),
}

impl ChangeError {
    /// Returns whether the disk is full.
    #[must_use]
    pub fn is_disk_full(&self) -> bool {
        match self {
            Self::Io { source, .. } => {
                matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
            }
            Self::File(error) => error.is_disk_full(),
            Self::Busy
            | Self::Plugin(_)
            | Self::NotPlain(_)
            | Self::TooLarge
            | Self::Unknown(_)
            | Self::Shipped(_) => false,
        }
    }
}

impl Plugins {
    /// Installs the plugin in the folder `from`. A plugin of the same id is replaced; models that are served continue
    /// with the settings with which they were started.
    ///
    /// # Errors
    /// [`ChangeError`]. The plugin of the same id stays in use.
    pub fn install(roots: &Roots, from: &Path) -> Result<Manifest, ChangeError> {
        read(from)?;
        let files = plain_files(from)?;
        let all = roots.plugins();
        let _one_at_a_time = lock(&all)?;
        let (staged, old) = (all.join(STAGED), all.join(OLD));
        remove_folder(&staged)?;
        bring_back(&all)?;
        fs::create_private_dir(&staged)?;
        for file in &files {
            let to = staged.join(file.file_name().unwrap_or_default());
            std::fs::copy(file, &to).map_err(|source| failed("copy", file, source))?;
        }
        // The folder could have changed while it was copied.
        let copied = read(&staged)?;
        let place = all.join(&copied.id);
        if place.exists() {
            std::fs::rename(&place, &old).map_err(|source| failed("replace", &place, source))?;
        }
        std::fs::rename(&staged, &place).map_err(|source| failed("rename", &staged, source))?;
        remove_folder(&old)?;
        Ok(copied)
    }

    /// Removes the installed plugin `id`. A plugin of the release with the same id is in use from then on.
    ///
    /// # Errors
    /// [`ChangeError`].
    pub fn remove(roots: &Roots, id: &str) -> Result<(), ChangeError> {
        let _one_at_a_time = lock(&roots.plugins())?;
        match Self::find(roots).by_id(id) {
            None => Err(ChangeError::Unknown(id.to_owned())),
            Some(Plugin { place: Place::Shipped, .. }) => Err(ChangeError::Shipped(id.to_owned())),
            Some(Plugin { place: Place::Installed(folder), .. }) => remove_folder(folder),
        }
    }
}

/// Undoes the first half of an interrupted replacement, or removes what its second half has left.
fn bring_back(all: &Path) -> Result<(), ChangeError> {
    let old = all.join(OLD);
    if let Ok(manifest) = read(&old) {
        let place = all.join(&manifest.id);
        if !place.exists() {
            return std::fs::rename(&old, &place).map_err(|source| failed("rename", &old, source));
        }
    }
    remove_folder(&old)
}

fn lock(all: &Path) -> Result<Lock, ChangeError> {
    fs::create_private_dir(all)?;
    fs::try_lock(&all.join(".lock"))?.ok_or(ChangeError::Busy)
}

fn plain_files(folder: &Path) -> Result<Vec<PathBuf>, ChangeError> {
    let entries = std::fs::read_dir(folder).map_err(|source| failed("read", folder, source))?;
    let (mut files, mut bytes) = (Vec::new(), 0_u64);
    for entry in entries {
        let path = entry.map_err(|source| failed("read", folder, source))?.path();
        let found = std::fs::symlink_metadata(&path);
        let found = found.map_err(|source| failed("read", &path, source))?;
        if !found.is_file() {
            return Err(ChangeError::NotPlain(path));
        }
        bytes = bytes.saturating_add(found.len());
        if files.len() == FILES_LIMIT || bytes > BYTES_LIMIT {
            return Err(ChangeError::TooLarge);
        }
        files.push(path);
    }
    Ok(files)
}

fn remove_folder(path: &Path) -> Result<(), ChangeError> {
    match std::fs::remove_dir_all(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(failed("delete", path, source)),
    }
}

fn failed(doing: &'static str, path: &Path, source: io::Error) -> ChangeError {
    ChangeError::Io { doing, path: path.to_owned(), source }
}
