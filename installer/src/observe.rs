//! What is there of an installation.

use std::path::{Path, PathBuf};

use link_platform::{fs, pointer};

use crate::{
    decide::plan::{Found, Observed},
    intact::is_program,
    layout::{Layout, PROGRAMS, Product, complete_mark},
    receipt::{InstalledFile, InstalledVersion, Receipt},
    shared::SharedFile,
    unpacked::{hash, hash_of},
    versions,
};

/// Looks at everything that `wanted` and `shared` should be. `receipt` says what we made.
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

fn version(layout: &Layout, wanted: &InstalledVersion) -> Found {
    let folder = layout.version(&wanted.version);
    if !folder.exists() {
        return Found::Missing;
    }
    let is_whole = complete_mark(&folder).is_file() && wanted.files.iter().all(is_program);
    if is_whole { Found::Intact } else { Found::Damaged }
}

/// The guard may be that of any version on disk. A backend needs none.
fn guard(layout: &Layout, receipt: &Receipt, wanted: &InstalledVersion) -> Found {
    if layout.product() == Product::Backend {
        return Found::Intact;
    }
    let path = layout.guard();
    let Ok((found, _)) = hash(&path) else { return Found::Missing };
    let versions = receipt.versions.iter().chain([wanted]);
    let mut guards =
        versions.flat_map(|version| &version.files).filter(|file| file.path.ends_with(PROGRAMS[2]));
    let is_known = guards.any(|file| file.sha256 == found.as_str());
    if is_known && fs::is_executable(&path) { Found::Intact } else { Found::Damaged }
}

/// A pointer that we made is ours wherever it leads now; a file in its place is not.
fn command(layout: &Layout, receipt: &Receipt, path: PathBuf) -> Found {
    if std::fs::symlink_metadata(&path).is_err() {
        return Found::Missing;
    }
    match pointer::read(&path) {
        Some(target) if target == layout.command_target() => Found::Intact,
        Some(_) if receipt.pointers.contains(&path) => Found::Damaged,
        Some(_) | None => Found::Foreign,
    }
}

fn page(receipt: &Receipt, file: &SharedFile) -> Found {
    let Ok((found, _)) = hash(&file.path) else { return Found::Missing };
    let is_ours = receipt.files.iter().any(|ours| ours.path == file.path);
    match (is_ours, found == hash_of(&file.contents)) {
        // A receipt that was lost does not make our own text another's.
        (_, true) if is_ours => Found::Intact,
        (true, _) | (_, true) => Found::Damaged,
        (false, false) => Found::Foreign,
    }
}
