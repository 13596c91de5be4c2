//! Whether the current version is whole, and that version as a release to install again: so an
//! intact installation downloads nothing, and the rest of it (commands, pages, guard) is still mended.
//!
//! The hashes are those in the receipt, which were verified when the version was laid out.

use std::path::PathBuf;

use link_platform::fs;
use link_protocol::command::Sha256Hex;
use semver::Version;

use crate::{
    layout::{Layout, complete_mark},
    receipt::{InstalledFile, InstalledVersion, Receipt},
    trust::Release,
    versions::{self, has_hash},
};

/// Returns the current version as a release, when it is `version`, came out of `archive`, and is whole.
#[must_use]
pub fn release(layout: &Layout, version: &Version, archive: &Sha256Hex) -> Option<Release> {
    let (current, installed) = current(layout)?;
    let is_it = current == *version && installed.archive.as_deref() == Some(archive.as_str());
    let is_whole = is_it && damaged_files(layout, &installed).is_empty();
    let names = layout.product().programs();
    let hash_of = |name: &&'static str| {
        let file = installed.files.iter().find(|file| file.path.ends_with(name))?;
        Some((*name, file.sha256.parse().ok()?))
    };
    let programs = names.iter().map(hash_of).collect::<Option<_>>().filter(|_| is_whole)?;
    let from = layout.version(&version.to_string());
    let (archive, signed) = (Some(archive.clone()), installed.release);
    Some(Release { from, version: current, programs, signed, archive })
}

/// Returns the files of the current version that are missing, changed or not executable.
#[must_use]
pub fn damaged(layout: &Layout) -> Vec<PathBuf> {
    current(layout).map(|(_, installed)| damaged_files(layout, &installed)).unwrap_or_default()
}

/// The version that is pointed to, and what the receipt knows of it.
fn current(layout: &Layout) -> Option<(Version, InstalledVersion)> {
    let current = versions::current(layout)?;
    let receipt = Receipt::read(&layout.receipt())?;
    let installed = receipt.version(&current.to_string())?.clone();
    Some((current, installed))
}

fn damaged_files(layout: &Layout, installed: &InstalledVersion) -> Vec<PathBuf> {
    let mark = complete_mark(&layout.version(&installed.version));
    let unmarked = (!mark.is_file()).then_some(mark);
    let changed = installed.files.iter().filter(|file| !is_program(file));
    changed.map(|file| file.path.clone()).chain(unmarked).collect()
}

/// Tells whether a program is the one that was installed, and can be run.
pub(crate) fn is_program(file: &InstalledFile) -> bool {
    has_hash(&file.path, &file.sha256) && fs::is_executable(&file.path)
}
