//! A name that points to another path and can be changed atomically: a symbolic link on Unix, a
//! small text file elsewhere.

use std::{
    io,
    path::{Path, PathBuf},
};

#[cfg(unix)]
#[path = "pointer/unix.rs"]
mod system;
#[cfg(windows)]
#[path = "pointer/windows.rs"]
mod system;

/// Returns the path that `pointer` points to. None if `pointer` is not a pointer.
#[must_use]
pub fn read(pointer: &Path) -> Option<PathBuf> {
    system::read(pointer)
}

/// Returns the path through which the target of `pointer` can be used: the pointer itself where the system follows it, else
/// its target. Any other path is returned unchanged.
#[must_use]
pub fn follow(pointer: &Path) -> PathBuf {
    system::follow(pointer)
}

/// Makes `pointer` point to `target`, atomically. The change is on disk when this returns.
///
/// # Errors
/// If the folder cannot be written. Then the pointer is unchanged.
pub fn replace(pointer: &Path, target: &Path) -> io::Result<()> {
    system::replace(pointer, target)
}
