//! File modes and folder syncs on Unix.

use std::{
    fs::{DirBuilder, Permissions},
    io,
    os::unix::fs::{DirBuilderExt as _, PermissionsExt as _},
    path::Path,
};

/// Readable by everyone who can reach the folder.
pub(super) const PUBLIC: u32 = 0o644;

/// Readable by the owner only.
pub(super) const PRIVATE: u32 = 0o600;

pub(super) fn permissions(mode: u32) -> Option<Permissions> {
    Some(Permissions::from_mode(mode))
}

pub(super) fn create_private_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

pub(super) fn sync_dir(folder: &Path) -> io::Result<()> {
    std::fs::File::open(folder)?.sync_all()
}

pub(super) fn is_executable(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o100 != 0)
}
