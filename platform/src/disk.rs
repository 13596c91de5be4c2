//! Free space on a disk.

use std::{io, path::Path};

/// Returns how many bytes this user may still write below `path`; unknown where the system does
/// not tell.
///
/// # Errors
/// When the file system cannot be asked.
#[cfg(unix)]
pub fn free_bytes(path: &Path) -> io::Result<Option<u64>> {
    let stat = rustix::fs::statvfs(path)?;
    Ok(Some(stat.f_bavail.saturating_mul(stat.f_frsize)))
}

/// Returns how many bytes this user may still write below `path`; unknown where the system does
/// not tell.
///
/// # Errors
/// Never on this system.
#[cfg(windows)]
pub fn free_bytes(_path: &Path) -> io::Result<Option<u64>> {
    Ok(None)
}
