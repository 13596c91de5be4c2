//! A name that stands for another path and can be changed in one step. A symbolic link: this
//! module runs on Unix; Windows gets a small file in its place when its installer comes.

#![expect(clippy::disallowed_methods, reason = "IO shell: makes and reads symbolic links")]

use std::{
    io,
    path::{Path, PathBuf},
};

/// Returns what `pointer` stands for; nothing when it is not a pointer.
pub(crate) fn read(pointer: &Path) -> Option<PathBuf> {
    std::fs::read_link(pointer).ok()
}

/// Makes `pointer` stand for `target`, in one step.
pub(crate) fn replace(pointer: &Path, target: &Path) -> io::Result<()> {
    let name = pointer.file_name().unwrap_or_default().to_string_lossy();
    let staged = pointer.with_file_name(format!(".{name}.new"));
    match std::fs::remove_file(&staged) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    std::os::unix::fs::symlink(target, &staged)?;
    std::fs::rename(&staged, pointer)
}
