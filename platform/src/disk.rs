//! Space on a disk.

use std::{io, path::Path};

/// The space of a file system, in bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Space {
    pub used: u64,
    /// Bytes that this user can still write. The system may reserve more for itself.
    pub free: u64,
    pub total: u64,
}

/// Returns how many bytes this user can still write below `path`. None if the system does not
/// report this.
///
/// # Errors
/// If the system call fails.
pub fn free_bytes(path: &Path) -> io::Result<Option<u64>> {
    space(path).map(|space| space.map(|space| space.free))
}

/// Returns the number of the device that contains `path`: two file systems have two numbers. None if `path` cannot be
/// looked at.
#[cfg(unix)]
#[must_use]
pub fn file_system(path: &Path) -> Option<u64> {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata(path).ok().map(|found| found.dev())
}

/// Returns the number of the device that contains `path`. Always None, because this system does not report it.
#[cfg(windows)]
#[must_use]
pub const fn file_system(_path: &Path) -> Option<u64> {
    None
}

/// Returns the space of the file system that contains `path`. None if the system does not report
/// it.
///
/// # Errors
/// If the system call fails.
#[cfg(unix)]
pub fn space(path: &Path) -> io::Result<Option<Space>> {
    let stat = rustix::fs::statvfs(path)?;
    let bytes = |blocks: u64| blocks.saturating_mul(stat.f_frsize);
    Ok(Some(Space {
        used: bytes(stat.f_blocks.saturating_sub(stat.f_bfree)),
        free: bytes(stat.f_bavail),
        total: bytes(stat.f_blocks),
    }))
}

/// Returns the space of the file system that contains `path`. None if the system does not report
/// it.
///
/// # Errors
/// If the system call fails.
#[cfg(windows)]
pub fn space(path: &Path) -> io::Result<Option<Space>> {
    use std::os::windows::ffi::OsStrExt as _;

    use windows_sys::Win32::Storage::FileSystem::GetDiskFreeSpaceExW;

    let path: Vec<u16> = path.as_os_str().encode_wide().chain([0]).collect();
    // `free` respects the quota of this user, and `unused` does not.
    let (mut free, mut total, mut unused) = (0, 0, 0);
    // SAFETY: the path ends with a zero, and the three numbers live until the call returns.
    #[expect(unsafe_code, reason = "one system call")]
    let done = unsafe { GetDiskFreeSpaceExW(path.as_ptr(), &mut free, &mut total, &mut unused) };
    if done == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(Some(Space { used: total.saturating_sub(unused), free, total }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_disk_are_not_more_than_the_whole() {
        let folder = tempfile::tempdir().unwrap();
        let space = space(folder.path()).unwrap().unwrap();
        assert!(space.total > 0 && space.used.max(space.free) <= space.total, "{space:?}");
        assert!(super::space(Path::new("/no/such/folder")).is_err());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn file_systems_are_told_apart_and_folders_of_one_are_not() {
        let of = |path| file_system(Path::new(path)).unwrap();
        assert_eq!(of("/proc"), of("/proc/self"));
        assert_ne!(of("/proc"), of("/"));
        assert_eq!(file_system(Path::new("/no/such/folder")), None);
    }
}
