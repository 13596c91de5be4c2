//! Puts the programs of an unpacked release in their place, or finds that they are there.
//!
//! Nothing is overwritten in place: a version is laid out beside the others under another name,
//! moved to its own, marked complete, and only then pointed to.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "IO shell: copies programs and makes folders"
)]

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use link_platform::fs::{self, FileError};
use link_protocol::{command::Sha256Hex, release::is_downgrade};

use crate::{
    layout::{Layout, PROGRAMS, complete_mark},
    pointer,
    receipt::{InstalledFile, InstalledRelease, Receipt},
    trust::{Release, hash},
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
/// was called, on the way to the data folder.
///
/// # Errors
/// [`InstallError`]; the version that was current before still is.
pub fn install(
    release: &Release,
    layout: &Layout,
    made: Option<&Path>,
) -> Result<Outcome, InstallError> {
    let roots = layout.roots();
    let places = [&roots.data, &roots.state, &roots.config, &roots.bin];
    let made = missing_folders(&places.map(PathBuf::as_path), made);
    fs::create_private_dir(&roots.data)?;
    let _lock = fs::try_lock(&layout.lock())?.ok_or(InstallError::Busy)?;
    let before = Receipt::read(&layout.receipt());
    let folder = layout.version(&release.version);
    let receipt = Receipt {
        version: release.version.clone(),
        release: not_older(before.as_ref(), release)?,
        files: programs(release, &folder),
        pointers: [vec![layout.current()], layout.commands().to_vec()].concat(),
        folders: before.as_ref().map_or(made, |before| before.folders.clone()),
        ..before.clone().unwrap_or_default()
    };
    check_name(layout)?;
    if is_intact(layout, &receipt) {
        if before.is_some_and(|before| before.release != receipt.release) {
            receipt.write(&layout.receipt())?;
        }
        return Ok(Outcome::Intact);
    }
    let was_there = folder.exists();
    receipt.write(&layout.receipt())?;
    lay_out(release, &folder)?;
    place_guard(&folder, &layout.guard())?;
    for place in [&roots.bin, &roots.state] {
        std::fs::create_dir_all(place).map_err(|source| io_error("create", place, source))?;
    }
    let current = layout.current();
    pointer::replace(&current, &folder).map_err(|source| io_error("point", &current, source))?;
    for command in layout.commands() {
        pointer::replace(&command, &layout.command_target())
            .map_err(|source| io_error("point", &command, source))?;
    }
    Ok(match before {
        _ if was_there => Outcome::Repaired,
        Some(_) => Outcome::Changed,
        None => Outcome::Installed,
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
    before: Option<&Receipt>,
    release: &Release,
) -> Result<Option<InstalledRelease>, InstallError> {
    let Some(mut signed) = release.signed.clone() else { return Ok(None) };
    if let Some((version, installed)) =
        before.and_then(|before| Some((&before.version, before.release.as_ref()?)))
    {
        let offered = (release.version.as_str(), signed.counter);
        if is_downgrade((version, installed.counter), offered) {
            let (installed, offered) = (version.clone(), release.version.clone());
            return Err(InstallError::Downgrade { installed, offered });
        }
        signed.counter = signed.counter.max(installed.counter);
    }
    Ok(Some(signed))
}

fn programs(release: &Release, to: &Path) -> Vec<InstalledFile> {
    let place = |(name, sha256): &(&str, Sha256Hex)| InstalledFile {
        path: to.join(name),
        sha256: sha256.to_string(),
    };
    release.programs.iter().map(place).collect()
}

fn has_hash(path: &Path, sha256: &str) -> bool {
    hash(path).is_ok_and(|(found, _)| found.as_str() == sha256)
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

fn is_intact(layout: &Layout, receipt: &Receipt) -> bool {
    let folder = layout.version(&receipt.version);
    complete_mark(&folder).is_file()
        && receipt.files.iter().all(|file| has_hash(&file.path, &file.sha256))
        && hash(&layout.guard()).ok() == hash(&folder.join(PROGRAMS[2])).ok()
        && pointer::read(&layout.current()).is_some_and(|target| target == folder)
        && layout
            .commands()
            .iter()
            .all(|command| pointer::read(command) == Some(layout.command_target()))
        && layout.receipt().is_file()
}

/// Lays out a version beside its place, then puts it there.
fn lay_out(release: &Release, folder: &Path) -> Result<(), InstallError> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let staged = folder.with_file_name(format!(".{name}.new"));
    let replaced = folder.with_file_name(format!(".{name}.old"));
    for leftover in [&staged, &replaced] {
        remove_folder(leftover)?;
    }
    std::fs::create_dir_all(&staged).map_err(|source| io_error("create", &staged, source))?;
    for (program, sha256) in &release.programs {
        let (source_path, target) = (release.from.join(program), staged.join(program));
        std::fs::copy(&source_path, &target)
            .and_then(|_| File::open(&target)?.sync_all())
            .map_err(|source| io_error("write", &target, source))?;
        if !has_hash(&target, sha256.as_str()) {
            remove_folder(&staged)?;
            return Err(InstallError::Changed(source_path));
        }
    }
    if folder.exists() {
        fs::rename(folder, &replaced)?;
    }
    fs::rename(&staged, folder)?;
    fs::write_atomic(&complete_mark(folder), b"")?;
    remove_folder(&replaced)
}

/// Puts the guard of a version outside of all versions, in one step.
fn place_guard(version: &Path, guard: &Path) -> Result<(), InstallError> {
    let source = version.join(PROGRAMS[2]);
    let staged = guard.with_extension("new");
    let failed = |error| io_error("write", guard, error);
    let folder = guard.parent().unwrap_or(guard);
    std::fs::create_dir_all(folder).map_err(|error| io_error("create", folder, error))?;
    std::fs::copy(&source, &staged)
        .and_then(|_| File::open(&staged)?.sync_all())
        .map_err(failed)?;
    fs::rename(&staged, guard)?;
    Ok(())
}

fn remove_folder(folder: &Path) -> Result<(), InstallError> {
    match std::fs::remove_dir_all(folder) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(io_error("remove", folder, source))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

fn io_error(action: &'static str, path: &Path, source: io::Error) -> InstallError {
    InstallError::Io { action, path: path.to_owned(), source }
}

#[cfg(test)]
mod tests;
