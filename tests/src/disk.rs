//! A separate disk that can be full or read-only.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
};

/// A disk of 80 MB. Dropping the value unmounts it.
pub struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Mounts a disk. Returns `None` unless the test runs as root.
    #[must_use]
    pub fn mount(folder: &Path) -> Option<Self> {
        let mount = ["-t", "tmpfs", "-o", "size=80m,mode=700", "link-test"];
        let status = Command::new("mount").args(mount).arg(folder).output().ok()?.status;
        status.success().then(|| Self(folder.to_owned()))
    }

    /// Returns the path of the file that fills the disk.
    #[must_use]
    pub fn filler(&self) -> PathBuf {
        self.0.join("filler")
    }

    /// Fills the disk to its last byte.
    ///
    /// # Panics
    /// Panics if the file that fills the disk cannot be created.
    pub fn fill(&self) {
        let mut file = std::fs::File::create(self.filler()).unwrap();
        while file.write_all(&[0; 4096]).is_ok() {}
        while file.write_all(&[0; 1]).is_ok() {}
    }

    /// Deletes the file that fills the disk.
    ///
    /// # Panics
    /// Panics if there is no such file.
    pub fn empty(&self) {
        std::fs::remove_file(self.filler()).unwrap();
    }

    /// Makes the disk writable or read-only.
    ///
    /// # Panics
    /// Panics if the system refuses.
    pub fn set_writable(&self, writable: bool) {
        let option = if writable { "remount,rw" } else { "remount,ro" };
        let status = Command::new("mount").args(["-o", option]).arg(&self.0).status();
        assert!(status.unwrap().success());
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("--lazy").arg(&self.0).status());
    }
}
