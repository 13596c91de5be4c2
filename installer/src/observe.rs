//! Reads the state of an installation.

use std::path::{Path, PathBuf};

use link_platform::program;

use crate::{
    decide::plan::{FileState, Observed},
    intact::{is_guard_of, is_intact},
    layout::{Layout, Product, complete_mark},
    receipt::{InstalledFile, InstalledVersion, Receipt},
    shared::SharedFile,
    unpacked::{hash, hash_of},
    versions::{self, has_hash},
};

/// Compares the files on disk with `wanted` and `shared`. `receipt` says which files are ours.
#[must_use]
pub(crate) fn observe(
    layout: &Layout,
    receipt: &Receipt,
    wanted: &InstalledVersion,
    shared: &[SharedFile],
) -> Observed {
    let named = layout.commands().into_iter();
    let wants = |path: &Path| shared.iter().any(|file| file.path == path);
    let is_outdated = |file: &&InstalledFile| !wants(&file.path) && file.path.is_file();
    let outdated = receipt.files.iter().filter(is_outdated);
    Observed {
        current: versions::current(layout),
        version: version(layout, wanted),
        guard: guard(layout, receipt, wanted),
        commands: named.map(|path| (path.clone(), command(layout, receipt, path))).collect(),
        shared: shared.iter().map(|file| (file.path.clone(), page(receipt, file))).collect(),
        outdated: outdated.map(|file| file.path.clone()).collect(),
    }
}

fn version(layout: &Layout, wanted: &InstalledVersion) -> FileState {
    let folder = layout.version(&wanted.version);
    if !folder.exists() {
        return FileState::Missing;
    }
    let is_whole = complete_mark(&folder).is_file() && wanted.files.iter().all(is_intact);
    if is_whole { FileState::Intact } else { FileState::Damaged }
}

/// Checks the guard, which may be from any version on disk. A backend needs none.
fn guard(layout: &Layout, receipt: &Receipt, wanted: &InstalledVersion) -> FileState {
    if layout.product() == Product::Backend {
        return FileState::Intact;
    }
    let path = layout.guard();
    if !path.is_file() {
        return FileState::Missing;
    }
    let is_known = is_guard_of(&path, receipt.versions.iter().chain([wanted]));
    if is_known { FileState::Intact } else { FileState::Damaged }
}

/// A command that we created is ours even if it leads elsewhere. Any other file in its place is not.
fn command(layout: &Layout, receipt: &Receipt, path: PathBuf) -> FileState {
    if std::fs::symlink_metadata(&path).is_err() {
        return FileState::Missing;
    }
    match program::leads_to(&path, &layout.command_target()) {
        Some(true) => FileState::Intact,
        Some(false) if receipt.pointers.contains(&path) => FileState::Damaged,
        Some(false) | None => FileState::Foreign,
    }
}

/// Returns whether the command at `path` is ours to delete: it leads to the current version, or is a copy of a version that the
/// receipt lists. Where commands are copies, the one of an earlier version stays until an update has proved itself.
pub(crate) fn is_own_command(layout: &Layout, receipt: &Receipt, path: &Path) -> bool {
    let is_copy = || {
        let is_file = std::fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
        let target = layout.command_target();
        let installed = receipt.versions.iter().flat_map(|version| &version.files);
        let mut commands = installed.filter(|file| file.path.file_name() == target.file_name());
        is_file && commands.any(|file| has_hash(path, &file.sha256))
    };
    program::leads_to(path, &layout.command_target()) == Some(true) || is_copy()
}

fn page(receipt: &Receipt, file: &SharedFile) -> FileState {
    let Ok((found, _)) = hash(&file.path) else { return FileState::Missing };
    let is_ours = receipt.files.iter().any(|ours| ours.path == file.path);
    match (is_ours, found == hash_of(&file.contents)) {
        // The receipt was lost. A file with exactly our text is still ours.
        (_, true) if is_ours => FileState::Intact,
        (true, _) | (_, true) => FileState::Damaged,
        (false, false) => FileState::Foreign,
    }
}
