//! Whether the current version is intact. An intact version serves as the release to install, so that a repair of
//! commands, pages or guard downloads nothing.
//!
//! The hashes are those of the receipt. They were verified when the version was installed.

use std::path::{Path, PathBuf};

use link_platform::{fs, program};
use link_protocol::command::Sha256Hex;
use semver::Version;

use crate::{
    layout::{Layout, PLUGINS, complete_mark},
    receipt::{InstalledFile, InstalledVersion, Receipt},
    trust::{Release, files_of},
    versions::{self, has_hash},
};

/// Returns the current version as a release, if it is `version`, was unpacked from `archive`, and is intact.
#[must_use]
pub fn release(layout: &Layout, version: &Version, archive: &Sha256Hex) -> Option<Release> {
    let (current, installed) = current(layout)?;
    let is_it = current == *version && installed.archive.as_deref() == Some(archive.as_str());
    let is_whole = is_it && damaged_files(layout, &installed).is_empty();
    let file = |name: &str| installed.files.iter().find(|file| file.path.ends_with(name));
    let hash_of = |name: &'static str| Some((name, file(name)?.sha256.parse().ok()?));
    let names = files_of(layout.product().programs(), |name| file(name).is_some());
    let programs = names.map(hash_of).collect::<Option<_>>().filter(|_| is_whole)?;
    let from = layout.version(&version.to_string());
    let (archive, signed) = (Some(archive.clone()), installed.release);
    Some(Release { from, version: current, programs, signed, archive })
}

/// Returns the files of the current version that are missing, changed or not executable.
#[must_use]
pub fn damaged(layout: &Layout) -> Vec<PathBuf> {
    current(layout).map(|(_, installed)| damaged_files(layout, &installed)).unwrap_or_default()
}

/// Returns whether the guard is that of a version on disk, perhaps not of the current one, and can run.
#[must_use]
pub fn has_guard(layout: &Layout) -> bool {
    let receipt = Receipt::read(&layout.receipt()).unwrap_or_default();
    is_guard_of(&layout.guard(), receipt.versions.iter())
}

/// Returns whether `path` is the guard of one of `versions`, and can run.
pub(crate) fn is_guard_of<'a>(
    path: &Path,
    versions: impl Iterator<Item = &'a InstalledVersion>,
) -> bool {
    let guards = versions.flat_map(|version| &version.files);
    let mut guards = guards.filter(|file| file.path.ends_with(program::GUARD));
    guards.any(|file| has_hash(path, &file.sha256)) && fs::is_executable(path)
}

/// Returns the current version, and its entry in the receipt.
fn current(layout: &Layout) -> Option<(Version, InstalledVersion)> {
    let current = versions::current(layout)?;
    let receipt = Receipt::read(&layout.receipt())?;
    let installed = receipt.version(&current.to_string())?.clone();
    Some((current, installed))
}

fn damaged_files(layout: &Layout, installed: &InstalledVersion) -> Vec<PathBuf> {
    let mark = complete_mark(&layout.version(&installed.version));
    let unmarked = (!mark.is_file()).then_some(mark);
    let changed = installed.files.iter().filter(|file| !is_intact(file));
    changed.map(|file| file.path.clone()).chain(unmarked).collect()
}

/// Returns whether a file has the hash of the receipt, and a program is executable.
pub(crate) fn is_intact(file: &InstalledFile) -> bool {
    let is_data = file.path.ends_with(PLUGINS);
    has_hash(&file.path, &file.sha256) && (is_data || fs::is_executable(&file.path))
}
