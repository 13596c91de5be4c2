//! Installs and removes plugins.
//!
//! The new folder is complete, and on disk, before it replaces another one of the same id. A plugin leaves its place in
//! one step, too. So whatever interrupts a change, the plugin is whole: in its old version, in its new one, or absent. The
//! next change, or the next start of the agent, deletes what an interrupted change has left.
//!
//! A folder is the owner's word and replaces any plugin; an archive is a publisher's word and replaces that publisher's
//! plugins only.

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

use link_platform::{
    checkpoint,
    fs::{self, FileError, Lock},
    paths::Roots,
};
use link_protocol::plugin::Manifest;
use semver::Version;

use super::{
    OLD, ORIGIN, Origin, Place, Plugin, PluginError, Plugins,
    archive::VerifiedArchive,
    files::{FilesError, plain_files},
    read,
};
use crate::signers::RELEASE;

/// The folder of a plugin that is being installed.
const STAGED: &str = ".new";
/// The folder of a plugin that is being deleted.
const REMOVED: &str = ".removed";

/// A plugin could not be installed or removed.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    #[error("another command changes the plugins")]
    Busy,
    #[error(transparent)]
    Plugin(#[from] PluginError),
    #[error(transparent)]
    Files(#[from] FilesError),
    /// Another publisher's plugin has the id.
    #[error("the plugin `{plugin}` {by}, so another publisher's archive cannot replace it")]
    Taken { plugin: String, by: Holder },
    #[error(
        "the archive with version {offered} of the plugin `{plugin}` is older than the installed {installed}: number \
         {serial}, after {known}"
    )]
    Older { plugin: String, installed: Version, offered: Version, known: u64, serial: u64 },
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
            Self::Files(_)
            | Self::Busy
            | Self::Plugin(_)
            | Self::Taken { .. }
            | Self::Older { .. }
            | Self::Unknown(_)
            | Self::Shipped(_) => false,
        }
    }
}

/// The holder of a plugin's id.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Holder {
    /// The release has a plugin of this id.
    Release,
    /// The owner of this account installed a folder.
    Folder,
    /// A publisher's archive was installed.
    Signer(String),
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Release => f.write_str("belongs to this release"),
            Self::Folder => f.write_str("was installed from a folder"),
            Self::Signer(kid) => write!(f, "was signed with the key {kid}"),
        }
    }
}

impl Plugins {
    /// Installs the plugin in the folder `from`. A plugin of the same id is replaced, whoever published it; models that
    /// are served continue with the settings with which they were started.
    ///
    /// # Errors
    /// [`ChangeError`]. The plugin of the same id stays in use.
    pub fn install(roots: &Roots, from: &Path) -> Result<Manifest, ChangeError> {
        read(from)?;
        let files = plain_files(from)?;
        place(roots, |staged| {
            for file in &files {
                let to = staged.join(file.file_name().unwrap_or_default());
                let contents =
                    std::fs::read(file).map_err(|source| failed("read", file, source))?;
                write(&to, &contents, fs::is_executable(file))?;
            }
            Ok(())
        })
    }

    /// Installs the plugin of a verified archive. It replaces a plugin of the same id only if the same publisher signed
    /// that one, and earlier.
    ///
    /// # Errors
    /// [`ChangeError`]. The plugin of the same id stays in use.
    pub fn install_archive(
        roots: &Roots,
        archive: &VerifiedArchive,
    ) -> Result<Manifest, ChangeError> {
        place(roots, |staged| {
            may_replace(roots, archive)?;
            for file in &archive.files {
                write(&staged.join(&file.name), &file.contents, file.is_program)?;
            }
            let (signed_by, serial) = (archive.signed_by.clone(), archive.serial);
            let origin = Origin { signed_by, serial };
            Ok(fs::write_atomic(&staged.join(ORIGIN), &origin.to_json())?)
        })
    }

    /// Removes the installed plugin `id`. A plugin of the release with the same id is in use from then on.
    ///
    /// # Errors
    /// [`ChangeError`].
    pub fn remove(roots: &Roots, id: &str) -> Result<(), ChangeError> {
        let all = roots.plugins();
        let _one_at_a_time = lock(&all)?;
        clear(&all)?;
        match Self::find(roots).by_id(id) {
            None => Err(ChangeError::Unknown(id.to_owned())),
            Some(Plugin { place: Place::Shipped, .. }) => Err(ChangeError::Shipped(id.to_owned())),
            Some(Plugin { place: Place::Installed(folder), .. }) => withdraw(&all, folder),
        }
    }

    /// Finishes or undoes a change that was interrupted, and deletes what it has left. Does nothing while another
    /// command changes the plugins.
    ///
    /// # Errors
    /// [`ChangeError`] if a folder cannot be renamed or deleted.
    pub fn tidy(roots: &Roots) -> Result<(), ChangeError> {
        let all = roots.plugins();
        if !all.is_dir() {
            return Ok(());
        }
        match lock(&all) {
            Ok(_one_at_a_time) => clear(&all),
            Err(ChangeError::Busy) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// Fills a new folder, and puts it in the place of the plugin of the same id.
fn place(
    roots: &Roots,
    fill: impl FnOnce(&Path) -> Result<(), ChangeError>,
) -> Result<Manifest, ChangeError> {
    let all = roots.plugins();
    let _one_at_a_time = lock(&all)?;
    clear(&all)?;
    let (staged, old) = (all.join(STAGED), all.join(OLD));
    fs::create_private_dir(&staged)?;
    checkpoint::reach("plugin-begun");
    let filled = fill(&staged).and_then(|()| {
        // A folder could have changed while it was copied.
        Ok(read(&staged)?)
    });
    let manifest = match filled {
        Ok(manifest) => manifest,
        Err(error) => {
            fs::remove_dir(&staged)?;
            return Err(error);
        }
    };
    checkpoint::reach("plugin-filled");
    let place = all.join(&manifest.id);
    if place.exists() {
        fs::rename(&place, &old)?;
        checkpoint::reach("plugin-set-aside");
    }
    fs::rename(&staged, &place)?;
    checkpoint::reach("plugin-placed");
    fs::remove_dir(&old)?;
    checkpoint::reach("plugin-replaced");
    Ok(manifest)
}

/// Writes a file of a plugin that is being installed. The file is on disk when this returns.
fn write(to: &Path, contents: &[u8], is_program: bool) -> Result<(), ChangeError> {
    match is_program {
        true => fs::write_program(to, contents)?,
        false => fs::write_atomic(to, contents)?,
    }
    checkpoint::reach("plugin-file-written");
    Ok(())
}

/// Takes the plugin in `folder` out of use in one step, and deletes it.
fn withdraw(all: &Path, folder: &Path) -> Result<(), ChangeError> {
    let removed = all.join(REMOVED);
    fs::rename(folder, &removed)?;
    checkpoint::reach("plugin-withdrawn");
    fs::remove_dir(&removed)?;
    checkpoint::reach("plugin-removed");
    Ok(())
}

/// Checks that the archive's publisher may replace the plugin of the same id, and that the archive is not older.
fn may_replace(roots: &Roots, archive: &VerifiedArchive) -> Result<(), ChangeError> {
    let id = &archive.manifest.id;
    let taken = |by| Err(ChangeError::Taken { plugin: id.clone(), by });
    let installed = roots.plugins().join(id);
    match Plugins::find(roots).by_id(id) {
        // A damaged plugin is replaced by its publisher alone.
        None if installed.exists() => match Origin::of(&installed) {
            Some(origin) if origin.signed_by == archive.signed_by => Ok(()),
            Some(origin) => taken(Holder::Signer(origin.signed_by)),
            None => taken(Holder::Folder),
        },
        None => Ok(()),
        Some(Plugin { place: Place::Shipped, .. }) if archive.signed_by == RELEASE => Ok(()),
        Some(Plugin { place: Place::Shipped, .. }) => taken(Holder::Release),
        Some(Plugin { place: Place::Installed(folder), manifest }) => match Origin::of(folder) {
            None => taken(Holder::Folder),
            Some(origin) if origin.signed_by != archive.signed_by => {
                taken(Holder::Signer(origin.signed_by))
            }
            Some(origin) if archive.serial < origin.serial => Err(ChangeError::Older {
                plugin: id.clone(),
                installed: manifest.version.clone(),
                offered: archive.manifest.version.clone(),
                known: origin.serial,
                serial: archive.serial,
            }),
            Some(_) => Ok(()),
        },
    }
}

/// Deletes what an interrupted change has left, after undoing the first half of a replacement.
fn clear(all: &Path) -> Result<(), ChangeError> {
    for left in [STAGED, REMOVED] {
        fs::remove_dir(&all.join(left))?;
    }
    let old = all.join(OLD);
    if let Ok(manifest) = read(&old) {
        let place = all.join(&manifest.id);
        if !place.exists() {
            return Ok(fs::rename(&old, &place)?);
        }
    }
    Ok(fs::remove_dir(&old)?)
}

fn lock(all: &Path) -> Result<Lock, ChangeError> {
    fs::create_private_dir(all)?;
    fs::try_lock(&all.join(".lock"))?.ok_or(ChangeError::Busy)
}

fn failed(doing: &'static str, path: &Path, source: io::Error) -> ChangeError {
    ChangeError::Io { doing, path: path.to_owned(), source }
}
