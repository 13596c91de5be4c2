//! Puts the programs of an unpacked release in their place, or finds that they are there.
//!
//! Nothing is overwritten in place: a version is laid out beside the others under another name,
//! moved to its own, marked complete, and only then pointed to.

#![expect(clippy::disallowed_methods, reason = "IO shell: looks at files and makes folders")]

use std::{
    io,
    path::{Path, PathBuf},
};

use link_platform::{
    checkpoint,
    fs::{self, FileError},
    pointer,
};
use link_protocol::release::is_downgrade;
use semver::Version;

use crate::{
    layout::{Layout, PROGRAMS, complete_mark},
    receipt::{InstalledRelease, InstalledVersion, Receipt},
    trust::{Release, hash},
    versions::{self, Versions},
};

/// What an installation found or did.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// Nothing was there.
    Installed,
    /// Everything was there and is what the release holds; no program was written.
    Intact,
    /// This version was there and something of it was missing or changed.
    Repaired,
    /// Another version was current.
    Changed,
}

/// A release could not be laid out.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// Another installer works on the same folders.
    #[error("another installation is running")]
    Busy,
    /// The name of the command is taken by something that Link did not make.
    #[error("`{}` is another program", .0.display())]
    NameTaken(PathBuf),
    /// The release is older than what is installed.
    #[error("the release {offered} is older than the installed {installed}")]
    Downgrade { installed: String, offered: String },
    /// A program is not the one that was verified.
    #[error("`{}` changed while it was installed", .0.display())]
    Changed(PathBuf),
    /// A file or folder could not be read or written.
    #[error("failed to {action} `{}`", path.display())]
    Io {
        action: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// A state file could not be written.
    #[error(transparent)]
    File(#[from] FileError),
}

impl InstallError {
    /// Tells whether the disk is full.
    #[must_use]
    pub fn is_disk_full(&self) -> bool {
        match self {
            Self::Io { source, .. } => source.kind() == io::ErrorKind::StorageFull,
            Self::File(error) => error.is_disk_full(),
            Self::Busy | Self::NameTaken(_) | Self::Downgrade { .. } | Self::Changed(_) => false,
        }
    }
}

/// Installs `release`. `made` is the outermost folder that was made for this installation before it
/// was called, on the way to the data folder; `source` is where later releases come from.
///
/// A version that takes the place of another is on trial: the guard keeps it or puts the one before
/// back.
///
/// # Errors
/// [`InstallError`]; the version that was current before still is.
pub fn install(
    release: &Release,
    layout: &Layout,
    made: Option<&Path>,
    source: Option<&str>,
) -> Result<Outcome, InstallError> {
    let roots = layout.roots();
    let places = [&roots.data, &roots.state, &roots.config, &roots.bin];
    let made = missing_folders(&places.map(PathBuf::as_path), made);
    fs::create_private_dir(&roots.data)?;
    let versions = Versions::lock(layout)?;
    let known = Receipt::read(&layout.receipt());
    let is_new = known.is_none();
    let mut receipt = known.unwrap_or_else(|| Receipt { folders: made, ..Receipt::default() });
    let before = versions::current(layout);
    let installed_before = before.as_ref().and_then(|it| receipt.version(&it.to_string()).cloned());
    let mut wanted = versions::installed(release, &layout.version(&release.version.to_string()));
    wanted.release = not_older(installed_before.as_ref(), release)?;
    check_name(layout)?;
    receipt.pointers = [vec![layout.current()], layout.commands().to_vec()].concat();
    if let Some(source) = source {
        receipt.source = Some(source.to_owned());
    }
    let is_intact = is_intact(layout, &receipt, &wanted, before.as_ref());
    let had_version = layout.version(&wanted.version).exists();
    let changes = !is_new && before.is_some() && before.as_ref() != Some(&release.version);
    receipt.set_version(wanted.clone());
    if Receipt::read(&layout.receipt()).as_ref() != Some(&receipt) {
        receipt.write(&layout.receipt())?;
    }
    if is_intact {
        return Ok(Outcome::Intact);
    }
    checkpoint::reach("receipt-written");
    if !is_laid_out(layout, &wanted) {
        versions.lay_out(release)?;
    }
    if !(changes && has_known_guard(layout, &receipt)) {
        versions.place_guard(&wanted.version)?;
        checkpoint::reach("guard-placed");
    }
    for place in [&roots.bin, &roots.state] {
        std::fs::create_dir_all(place).map_err(|source| io_error("create", place, source))?;
    }
    if before.as_ref() != Some(&release.version) {
        versions.swap(&release.version)?;
    }
    for command in layout.commands() {
        pointer::replace(&command, &layout.command_target())
            .map_err(|source| io_error("point", &command, source))?;
        checkpoint::reach("command-pointed");
    }
    Ok(match (changes, had_version || !is_new) {
        (true, _) => Outcome::Changed,
        (false, true) => Outcome::Repaired,
        (false, false) => Outcome::Installed,
    })
}

/// The folders that making `places` makes, and those that were made from `made` inwards, from the
/// outermost inwards.
fn missing_folders(places: &[&Path], made: Option<&Path>) -> Vec<PathBuf> {
    let mut missing: Vec<PathBuf> = Vec::new();
    for place in places {
        let new =
            |folder: &&Path| !folder.exists() || made.is_some_and(|made| folder.starts_with(made));
        missing.extend(place.ancestors().take_while(new).map(Path::to_owned));
    }
    missing.sort();
    missing.dedup();
    missing
}

/// What the receipt says of `release`, which must not be older than what is there.
fn not_older(
    before: Option<&InstalledVersion>,
    release: &Release,
) -> Result<Option<InstalledRelease>, InstallError> {
    let Some(mut signed) = release.signed.clone() else { return Ok(None) };
    if let Some((before, installed)) =
        before.and_then(|before| Some((before, before.release.as_ref()?)))
    {
        let offered = release.version.to_string();
        if is_downgrade((&before.version, installed.counter), (&offered, signed.counter)) {
            let installed = before.version.clone();
            return Err(InstallError::Downgrade { installed, offered });
        }
        signed.counter = signed.counter.max(installed.counter);
    }
    Ok(Some(signed))
}

/// Refuses to replace a command of the same name that is not ours.
fn check_name(layout: &Layout) -> Result<(), InstallError> {
    let target = Some(layout.command_target());
    let is_taken = |command: &PathBuf| {
        std::fs::symlink_metadata(command).is_ok() && pointer::read(command) != target
    };
    layout
        .commands()
        .into_iter()
        .find(is_taken)
        .map_or(Ok(()), |name| Err(InstallError::NameTaken(name)))
}

fn is_intact(
    layout: &Layout,
    receipt: &Receipt,
    wanted: &InstalledVersion,
    current: Option<&Version>,
) -> bool {
    is_laid_out(layout, wanted)
        && has_known_guard(layout, receipt)
        && current.is_some_and(|current| current.to_string() == wanted.version)
        && layout
            .commands()
            .iter()
            .all(|command| pointer::read(command) == Some(layout.command_target()))
        && layout.receipt().is_file()
}

fn is_laid_out(layout: &Layout, wanted: &InstalledVersion) -> bool {
    complete_mark(&layout.version(&wanted.version)).is_file()
        && wanted.files.iter().all(|file| versions::has_hash(&file.path, &file.sha256))
}

/// Tells whether the guard is that of a version on disk: after an update the one before stays until
/// the new version has proved itself.
fn has_known_guard(layout: &Layout, receipt: &Receipt) -> bool {
    let Ok((found, _)) = hash(&layout.guard()) else { return false };
    let files = receipt.versions.iter().flat_map(|version| &version.files);
    files.filter(|file| file.path.ends_with(PROGRAMS[2])).any(|file| file.sha256 == found.as_str())
}

pub(crate) fn io_error(action: &'static str, path: &Path, source: io::Error) -> InstallError {
    InstallError::Io { action, path: path.to_owned(), source }
}

#[cfg(test)]
mod tests;
