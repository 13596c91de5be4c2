//! A name that stands for another path and can be changed in one step: a symbolic link on Unix, a
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

/// Returns the path that `pointer` stands for. None if it is not a pointer.
#[must_use]
pub fn read(pointer: &Path) -> Option<PathBuf> {
    system::read(pointer)
}

/// Makes `pointer` stand for `target` in one step. The change is on disk when this returns.
///
/// # Errors
/// If the folder cannot be written. The pointer is then unchanged.
pub fn replace(pointer: &Path, target: &Path) -> io::Result<()> {
    system::replace(pointer, target)
}
