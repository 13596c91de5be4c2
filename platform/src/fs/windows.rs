//! File modes and folder syncs on Windows: private folders have an access list that excludes other users, and what is created in
//! them inherits it; the file system journals renames.

use std::{
    fs::{File, Metadata, Permissions},
    io,
    path::Path,
};

use crate::held;

#[path = "access_list.rs"]
mod access_list;

/// No mode: the folder's access list decides.
pub(super) const PUBLIC: u32 = 0;

/// A program; the system knows programs by their names.
pub(super) const PROGRAM: u32 = 0;

/// No mode: the folder's access list decides.
pub(super) const PRIVATE: u32 = 0;

pub(super) const fn permissions(_mode: u32) -> Option<Permissions> {
    None
}

pub(super) fn create_private_dir(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        create_private_dir(parent)?;
    }
    match access_list::create_dir(path) {
        // Another process was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        done => done,
    }
}

/// Always false: the access list of a folder is as it was created.
#[expect(clippy::unnecessary_wraps, reason = "other systems can fail")]
pub(super) const fn is_open_to_others(_path: &Path) -> bool {
    false
}

pub(super) fn keep_to_owner(_path: &Path) -> io::Result<bool> {
    Ok(false)
}

pub(super) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    held::rename(from, to)
}

pub(super) fn is_held(error: &io::Error) -> bool {
    held::is_held(error)
}

pub(super) fn remove_file(path: &Path) -> io::Result<()> {
    held::patiently(|| std::fs::remove_file(path))
}

pub(super) fn remove_dir(path: &Path) -> io::Result<()> {
    held::patiently(|| std::fs::remove_dir_all(path))
}

pub(super) fn sync_dir(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// Returns whether a file exists at `path`. It is the opened file, because a deleted name stays
/// until the last handle is closed.
pub(super) fn is_at(_file: &File, path: &Path) -> bool {
    path.exists()
}

pub(super) fn is_executable(path: &Path) -> bool {
    path.is_file()
}

pub(super) const fn other_owner(_path: &Path) -> Option<String> {
    None
}

/// Always true: the access list of another user's folder excludes this user.
pub(super) const fn is_own(_path: &Path) -> bool {
    true
}

/// Does nothing: a new file gets its owner from the access list of its folder.
pub(super) const fn keep_owner(_file: &File, _before: &Metadata) -> io::Result<()> {
    Ok(())
}
