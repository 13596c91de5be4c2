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

/// Returns what `pointer` stands for; nothing when it is not a pointer.
#[must_use]
pub fn read(pointer: &Path) -> Option<PathBuf> {
    system::read(pointer)
}

/// Makes `pointer` stand for `target`, in one step; on disk when this returns.
///
/// # Errors
/// When the folder cannot be written; the pointer is then unchanged.
pub fn replace(pointer: &Path, target: &Path) -> io::Result<()> {
    system::replace(pointer, target)
}
