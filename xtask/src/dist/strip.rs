//! Executables of a development build without their symbols, which are half of each file.

#![expect(clippy::disallowed_methods, reason = "IO shell: runs `strip` on a copy")]

use std::{
    path::Path,
    process::{Command, Stdio},
};

/// Returns the executable at `path` without its symbols. If `strip` is missing or refuses the file, such as a script, returns
/// the file unchanged.
pub(super) fn stripped(path: &Path) -> std::io::Result<Vec<u8>> {
    let folder = tempfile::tempdir()?;
    let copy = folder.path().join("stripped");
    let strip = Command::new("strip").arg("-o").arg(&copy).arg(path).stderr(Stdio::null()).status();
    match strip {
        Ok(status) if status.success() => std::fs::read(&copy),
        Ok(_) | Err(_) => std::fs::read(path),
    }
}
