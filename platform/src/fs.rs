//! File changes that are atomic: a reader sees the old file or the new file, never a mixture.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "IO shell: files are what this module is for"
)]

use std::{
    fs::{File, Metadata, Permissions},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
};

#[cfg(unix)]
#[path = "fs/unix.rs"]
mod system;
#[cfg(windows)]
#[path = "fs/windows.rs"]
mod system;

mod replace_dir;

pub use replace_dir::{remove_replaced, replace_dir};

/// A file could not be read, written or removed.
#[derive(Debug, thiserror::Error)]
#[error("failed to {action} `{}`", path.display())]
pub struct FileError {
    action: &'static str,
    path: PathBuf,
    #[source]
    source: io::Error,
}

impl FileError {
    /// Returns whether the disk is full.
    #[must_use]
    pub fn is_disk_full(&self) -> bool {
        matches!(self.source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
    }

    /// Returns whether another program has the file open, or the file is a program that runs. Only Windows refuses to change such a
    /// file; elsewhere this is always false.
    #[must_use]
    pub fn is_held(&self) -> bool {
        system::is_held(&self.source)
    }

    /// Returns whether the file does not exist.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.source.kind() == io::ErrorKind::NotFound
    }
}

/// Replaces `path` with `contents` in one step. The new file is on disk when this returns.
///
/// # Errors
/// If the folder cannot be written or the disk is full. The old file is then unchanged.
pub fn write_atomic(path: &Path, contents: &[u8]) -> Result<(), FileError> {
    replace(path, contents, system::permissions(system::PUBLIC), None)
}

/// Like [`write_atomic`], for a file that a person created: a symbolic link stays a link, and the file keeps its owner
/// and permissions.
///
/// # Errors
/// Those of [`write_atomic`], and if the owner of the new file cannot be set.
pub fn rewrite(path: &Path, contents: &[u8]) -> Result<(), FileError> {
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let kept = std::fs::metadata(&path).ok();
    let permissions = kept.as_ref().map(Metadata::permissions);
    let permissions = permissions.or_else(|| system::permissions(system::PUBLIC));
    replace(&path, contents, permissions, kept.as_ref())
}

/// Like [`write_atomic`], but no other user can read the file at any moment.
///
/// # Errors
/// Those of [`write_atomic`].
pub fn write_private(path: &Path, contents: &[u8]) -> Result<(), FileError> {
    replace(path, contents, system::permissions(system::PRIVATE), None)
}

/// Like [`write_atomic`], but everybody who can enter the folder can run the file.
///
/// # Errors
/// Those of [`write_atomic`].
pub fn write_program(path: &Path, contents: &[u8]) -> Result<(), FileError> {
    replace(path, contents, system::permissions(system::PROGRAM), None)
}

/// Creates `path` and its parents. No other user can read the folders that this call created.
///
/// # Errors
/// If a folder cannot be created.
pub fn create_private_dir(path: &Path) -> Result<(), FileError> {
    system::create_private_dir(path).map_err(|source| FileError {
        action: "create",
        path: path.to_owned(),
        source,
    })
}

/// Reads a whole text file.
///
/// # Errors
/// If the file does not exist, cannot be read or is not UTF-8.
pub fn read_to_string(path: &Path) -> Result<String, FileError> {
    std::fs::read_to_string(path).map_err(|source| FileError {
        action: "read",
        path: path.to_owned(),
        source,
    })
}

/// Reads a whole text file of at most `limit` bytes.
///
/// # Errors
/// If the file does not exist, cannot be read, is longer or is not UTF-8.
pub fn read_limited(path: &Path, limit: u64) -> Result<String, FileError> {
    let failed = |source| FileError { action: "read", path: path.to_owned(), source };
    let mut text = String::new();
    let file = File::open(path).map_err(failed)?;
    file.take(limit + 1).read_to_string(&mut text).map_err(failed)?;
    if text.len() as u64 > limit {
        let reason = format!("it has more than {limit} bytes");
        return Err(failed(io::Error::new(io::ErrorKind::FileTooLarge, reason)));
    }
    Ok(text)
}

/// Like [`read_limited`], but refuses everything except a regular file before reading: a read from a pipe may block for
/// ever, and a device may be endless.
///
/// # Errors
/// Those of [`read_limited`], and if `path` is not a regular file.
pub fn read_plain(path: &Path, limit: u64) -> Result<String, FileError> {
    ensure_plain(path)?;
    read_limited(path, limit)
}

/// Checks that `path` is a regular file or does not exist.
///
/// # Errors
/// If `path` is anything else, or its metadata cannot be read.
pub fn ensure_plain(path: &Path) -> Result<(), FileError> {
    let failed = |source| FileError { action: "use", path: path.to_owned(), source };
    match std::fs::metadata(path) {
        Ok(found) if found.is_file() => Ok(()),
        Ok(_) => Err(failed(io::Error::other("it is not a regular file; remove it"))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(failed(error)),
    }
}

/// Makes sure that only this user can enter the folder `path`. Returns whether other users could enter it before.
///
/// # Errors
/// If the folder or a file in it belongs to another user, or if the permissions cannot be changed.
pub fn keep_to_owner(path: &Path) -> Result<bool, FileError> {
    system::keep_to_owner(path).map_err(|source| FileError {
        action: "keep other users out of",
        path: path.to_owned(),
        source,
    })
}

/// Returns whether other users can read the file or enter the folder at `path`. False if there is nothing, or if the
/// system has no such modes.
#[must_use]
pub fn is_open_to_others(path: &Path) -> bool {
    system::is_open_to_others(path)
}

/// Returns the user to whom the file or folder at `path` belongs, by name if the system knows it. None if it is this user,
/// if there is nothing, or if the system has no such owners.
#[must_use]
pub fn other_owner(path: &Path) -> Option<String> {
    system::other_owner(path)
}

/// Reads the last `bytes` of a text file. Invalid UTF-8 is replaced.
///
/// # Errors
/// If the file does not exist or cannot be read.
pub fn read_end(path: &Path, bytes: u64) -> Result<String, FileError> {
    let read = || {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(bytes)))?;
        let mut end = Vec::new();
        file.read_to_end(&mut end)?;
        Ok(String::from_utf8_lossy(&end).into_owned())
    };
    read().map_err(|source| FileError { action: "read", path: path.to_owned(), source })
}

/// Empties a file that is larger than `limit` bytes. A program that appends to the file continues at its new start.
///
/// # Errors
/// If the file cannot be read or written.
pub fn truncate_above(path: &Path, limit: u64) -> Result<(), FileError> {
    let truncate = || {
        let file = File::options().write(true).open(path)?;
        if file.metadata()?.len() > limit { file.set_len(0) } else { Ok(()) }
    };
    truncate().map_err(|source| FileError { action: "truncate", path: path.to_owned(), source })
}

/// Returns the size of a file, in bytes.
///
/// # Errors
/// If there is no such file.
pub fn size(path: &Path) -> Result<u64, FileError> {
    let found = std::fs::metadata(path).map(|found| found.len());
    found.map_err(|source| FileError { action: "read", path: path.to_owned(), source })
}

/// Removes a file. A missing file counts as removed.
///
/// # Errors
/// If the file exists and cannot be removed.
pub fn remove_file(path: &Path) -> Result<(), FileError> {
    match system::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(FileError { action: "remove", path: path.to_owned(), source })
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Removes a folder and everything in it. A missing folder counts as removed.
///
/// # Errors
/// If something in the folder cannot be removed.
pub fn remove_dir(path: &Path) -> Result<(), FileError> {
    match system::remove_dir(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(FileError { action: "remove", path: path.to_owned(), source })
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Moves `from` to `to` in one step. The move is on disk when this returns.
///
/// # Errors
/// If both paths are not on the same file system, or a folder cannot be written.
pub fn rename(from: &Path, to: &Path) -> Result<(), FileError> {
    system::rename(from, to).and_then(|()| sync_folder(to)).map_err(|source| FileError {
        action: "rename",
        path: from.to_owned(),
        source,
    })
}

/// Returns whether the user of this process owns the file at `path`. True if there is no file.
#[must_use]
pub fn is_own(path: &Path) -> bool {
    system::is_own(path)
}

/// Returns whether this user may run the file.
#[must_use]
pub fn is_executable(path: &Path) -> bool {
    system::is_executable(path)
}

/// An exclusive lock on a file. Released when the value is dropped or the process ends.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// Takes the lock on `path`. None if another process holds it.
///
/// # Errors
/// If the file cannot be created.
pub fn try_lock(path: &Path) -> Result<Option<Lock>, FileError> {
    ensure_plain(path)?;
    let failed = |source| FileError { action: "lock", path: path.to_owned(), source };
    let file =
        File::options().create(true).truncate(false).write(true).open(path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) if system::is_at(&file, path) => Ok(Some(Lock { _file: file })),
        // The previous holder has deleted the file, and another process may have locked a new one.
        Ok(()) => Ok(None),
        Err(std::fs::TryLockError::WouldBlock) => Ok(None),
        Err(std::fs::TryLockError::Error(source)) => Err(failed(source)),
    }
}

fn replace(
    path: &Path,
    contents: &[u8],
    permissions: Option<Permissions>,
    kept: Option<&Metadata>,
) -> Result<(), FileError> {
    let failed = |source| FileError { action: "write", path: path.to_owned(), source };
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    builder.prefix(".new-");
    if let Some(permissions) = permissions {
        builder.permissions(permissions);
    }
    let mut file = builder.tempfile_in(folder.unwrap_or(Path::new("."))).map_err(failed)?;
    if let Some(kept) = kept {
        // A new file belongs to this user, and the umask limits its permissions. Set the owner first, because that
        // clears permissions.
        let keep = || {
            system::keep_owner(file.as_file(), kept)?;
            file.as_file().set_permissions(kept.permissions())
        };
        keep().map_err(failed)?;
    }
    file.write_all(contents).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
    let (_, staged) = file.keep().map_err(|error| failed(error.error))?;
    // Our own rename waits for a program that has the file open.
    system::rename(&staged, path).map_err(|error| {
        let _gone = std::fs::remove_file(&staged);
        failed(error)
    })?;
    sync_folder(path).map_err(failed)
}

/// Makes a rename durable: the entry in the folder must reach the disk too.
fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => system::sync_dir(folder),
        Some(_) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_nothing_is_left_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state");
        for text in ["old", "new"] {
            write_atomic(&path, text.as_bytes()).unwrap();
            assert_eq!(read_to_string(&path).unwrap(), text);
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_private_file_is_readable_by_its_owner_only() {
        use std::os::unix::fs::PermissionsExt as _;

        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        write_private(&path, b"secret").unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_is_rewritten_keeps_its_link_and_its_permissions() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};

        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("dotfile"), dir.path().join("link"));
        std::fs::write(&file, "old").unwrap();
        std::fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        symlink(&file, &link).unwrap();
        rewrite(&link, b"new").unwrap();
        assert_eq!(read_to_string(&file).unwrap(), "new");
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o640);
        assert!(link.is_symlink());
    }

    /// Only root may change the owner of a file, so the test needs root.
    #[cfg(unix)]
    #[test]
    fn a_file_that_root_rewrites_still_belongs_to_its_owner() {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};

        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("dotfile");
        std::fs::write(&file, "old").unwrap();
        std::fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        assert!(is_own(&file) && is_own(&dir.path().join("nothing")));
        if chown(&file, Some(65_534), Some(65_533)).is_err() {
            return;
        }
        rewrite(&file, b"new").unwrap();
        let found = file.metadata().unwrap();
        assert_eq!((found.uid(), found.gid(), found.mode() & 0o777), (65_534, 65_533, 0o640));
        assert!(!is_own(&file));
    }

    #[cfg(unix)]
    #[test]
    fn a_lock_that_was_deleted_is_not_the_one_that_stands_there() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let file = File::create(&path).unwrap();
        assert!(system::is_at(&file, &path));
        std::fs::remove_file(&path).unwrap();
        assert!(!system::is_at(&file, &path));
        File::create(&path).unwrap();
        assert!(!system::is_at(&file, &path));
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_in_the_place_of_a_file_is_refused_without_waiting() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("state.json");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for refused in [read_plain(&pipe, 10).err(), try_lock(&pipe).err()] {
            let source = std::error::Error::source(refused.as_ref().unwrap()).unwrap().to_string();
            assert!(source.contains("not a regular file"), "{source}");
        }
        assert!(read_plain(&dir.path().join("none"), 10).unwrap_err().is_not_found());
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_others_may_write_becomes_its_owners_alone() {
        use std::os::unix::fs::PermissionsExt as _;

        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("state");
        std::fs::create_dir(&state).unwrap();
        std::fs::write(state.join("journal.db"), "").unwrap();
        std::fs::set_permissions(&state, Permissions::from_mode(0o777)).unwrap();
        assert!(keep_to_owner(&state).unwrap());
        assert_eq!(state.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        assert!(!keep_to_owner(&state).unwrap(), "there is nothing to do any more");
    }

    #[cfg(unix)]
    #[test]
    fn what_another_user_has_put_into_a_folder_is_refused() {
        use std::os::unix::fs::{PermissionsExt as _, chown};

        let dir = tempfile::tempdir().unwrap();
        let planted = dir.path().join("identity.json");
        std::fs::write(&planted, "{}").unwrap();
        if chown(&planted, Some(65534), Some(65534)).is_err() {
            // Only root can change the owner of a file.
            return;
        }
        std::fs::set_permissions(dir.path(), Permissions::from_mode(0o777)).unwrap();
        let refused = keep_to_owner(dir.path()).unwrap_err();
        let source = std::error::Error::source(&refused).unwrap().to_string();
        assert!(source.contains("`identity.json` in it belongs to user 65534"), "{source}");
        let theirs = tempfile::tempdir().unwrap();
        chown(theirs.path(), Some(65534), Some(65534)).unwrap();
        let refused = keep_to_owner(theirs.path()).unwrap_err();
        let source = std::error::Error::source(&refused).unwrap().to_string();
        assert!(source.contains("it belongs to user 65534, and this program runs as"), "{source}");
        let name = crate::user_manager::name_of("65534").unwrap_or_else(|| "65534".to_owned());
        assert_eq!(other_owner(theirs.path()), Some(name));
        assert_eq!(other_owner(&theirs.path().join("nothing")), None);
        assert_eq!(other_owner(tempfile::tempdir().unwrap().path()), None);
    }

    #[test]
    fn a_lock_is_held_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let held = try_lock(&path).unwrap();
        assert!(held.is_some() && try_lock(&path).unwrap().is_none());
        drop(held);
        // A child process that another test is starting may still hold our file open.
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
        while try_lock(&path).unwrap().is_none() {
            assert!(std::time::Instant::now() < deadline, "nobody holds it any more");
            std::thread::yield_now();
        }
    }
}
