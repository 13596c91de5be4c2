//! File modes and folder syncs on Unix.

use std::{
    fs::{DirBuilder, File, Permissions},
    io,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _},
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
    File::open(folder)?.sync_all()
}

/// Tells whether `path` leads to the open file.
pub(super) fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(open), Ok(there)) = (file.metadata(), std::fs::metadata(path)) else { return false };
    (open.dev(), open.ino()) == (there.dev(), there.ino())
}

pub(super) fn is_executable(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o100 != 0)
}
