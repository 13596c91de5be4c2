//! Symbolic links.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "IO shell: makes and reads symbolic links"
)]

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

pub(super) fn read(pointer: &Path) -> Option<PathBuf> {
    std::fs::read_link(pointer).ok()
}

pub(super) fn follow(pointer: &Path) -> PathBuf {
    pointer.to_owned()
}

pub(super) fn replace(pointer: &Path, target: &Path) -> io::Result<()> {
    let name = pointer.file_name().unwrap_or_default().to_string_lossy();
    let staged = pointer.with_file_name(format!(".{name}.new"));
    match std::fs::remove_file(&staged) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    std::os::unix::fs::symlink(target, &staged)?;
    std::fs::rename(&staged, pointer)?;
    File::open(pointer.parent().unwrap_or(Path::new(".")))?.sync_all()
}
