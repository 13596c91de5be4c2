//! File modes and folder syncs on Unix.

use std::{
    fs::{DirBuilder, File, Metadata, Permissions},
    io,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _, fchown},
    path::Path,
};

use crate::user_manager;

/// Readable for every user who can enter the folder.
pub(super) const PUBLIC: u32 = 0o644;

/// Readable, and a program for every user who can enter the folder.
pub(super) const PROGRAM: u32 = 0o755;

/// Readable for the owner only.
pub(super) const PRIVATE: u32 = 0o600;

pub(super) fn permissions(mode: u32) -> Option<Permissions> {
    Some(Permissions::from_mode(mode))
}

pub(super) fn create_private_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

pub(super) fn is_open_to_others(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.mode() & 0o077 != 0)
}

pub(super) fn keep_to_owner(path: &Path) -> io::Result<bool> {
    let us = rustix::process::geteuid().as_raw();
    let folder = std::fs::metadata(path)?;
    if folder.uid() != us {
        let reason =
            format!("it belongs to user {}, and this program runs as user {us}", folder.uid());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, reason));
    }
    if folder.mode() & 0o077 == 0 {
        return Ok(false);
    }
    // Close the folder first: after that, no other user can add a file.
    std::fs::set_permissions(path, Permissions::from_mode(0o700))?;
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        let owner = entry.metadata()?.uid();
        if owner != us {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let reason =
                format!("`{name}` in it belongs to user {owner}; look at it and remove it");
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, reason));
        }
    }
    Ok(true)
}

pub(super) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::rename(from, to)
}

pub(super) const fn is_held(_error: &io::Error) -> bool {
    false
}

pub(super) fn remove_file(path: &Path) -> io::Result<()> {
    std::fs::remove_file(path)
}

pub(super) fn remove_dir(path: &Path) -> io::Result<()> {
    std::fs::remove_dir_all(path)
}

pub(super) fn sync_dir(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Returns whether `path` still leads to the opened file.
pub(super) fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(open), Ok(there)) = (file.metadata(), std::fs::metadata(path)) else { return false };
    (open.dev(), open.ino()) == (there.dev(), there.ino())
}

pub(super) fn is_executable(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o100 != 0)
}

pub(super) fn is_own(path: &Path) -> bool {
    let own = rustix::process::geteuid().as_raw();
    std::fs::metadata(path).map_or(true, |found| found.uid() == own)
}

pub(super) fn other_owner(path: &Path) -> Option<String> {
    let own = rustix::process::geteuid().as_raw();
    let owner = std::fs::metadata(path).ok()?.uid();
    let name = || owner.to_string();
    (owner != own).then(|| user_manager::name_of(&name()).unwrap_or_else(name))
}

/// Sets the owner and group of `file` to those in `before`.
pub(super) fn keep_owner(file: &File, before: &Metadata) -> io::Result<()> {
    let made = file.metadata()?;
    if made.uid() != before.uid() {
        fchown(file, Some(before.uid()), None)?;
    }
    if made.gid() != before.gid() {
        // Only root can set a group of which it is not a member. The owner is what matters.
        let _stays_in_our_group = fchown(file, None, Some(before.gid()));
    }
    Ok(())
}
