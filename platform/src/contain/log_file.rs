//! A log of bounded size: a file, and the one before it with `.1` at the end of its name.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "IO shell: the log of a program"
)]

use std::{
    ffi::OsString,
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

/// The size at which a file becomes the one before, in bytes. The last of a log are between this and twice this.
pub(super) const LIMIT: u64 = 4 * 1024 * 1024;

/// An open log.
#[derive(Debug)]
pub(super) struct LogFile {
    path: PathBuf,
    file: File,
    len: u64,
}

impl LogFile {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = File::options().create(true).append(true).open(path)?;
        let len = file.metadata()?.len();
        Ok(Self { path: path.to_owned(), file, len })
    }

    /// Appends `bytes`. What cannot be written, for example to a full disk, is lost: a log must not hold up its program.
    pub(super) fn append(&mut self, bytes: &[u8]) {
        if self.len + bytes.len() as u64 > LIMIT
            && self.make_way().is_ok()
            && let Ok(next) = Self::open(&self.path)
        {
            *self = next;
        }
        if self.len < 2 * LIMIT && self.file.write_all(bytes).is_ok() {
            self.len += bytes.len() as u64;
        }
    }

    /// Renames the file to the one before. A missing file counts as renamed: an earlier attempt has renamed it and could then open
    /// no other, or somebody has deleted it.
    fn make_way(&self) -> io::Result<()> {
        match fs::rename(&self.path, before(&self.path)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            renamed => renamed,
        }
    }
}

/// Returns the path of the file before the one at `path`.
fn before(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".1");
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_files_hold_the_last_of_a_long_log() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.log");
        let mut log = LogFile::open(&path).unwrap();
        let part = [b'x'; 1 << 20];
        (0..10).for_each(|_| log.append(&part));
        log.append(b"last\n");
        let (now, then) = (fs::read(&path).unwrap(), fs::read(before(&path)).unwrap());
        assert!(now.ends_with(b"last\n"));
        assert_eq!((now.len(), then.len()), ((2 << 20) + 5, 4 << 20));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
        // A log that was opened again goes on where it was.
        assert_eq!(LogFile::open(&path).unwrap().len, now.len() as u64);
    }

    #[test]
    fn a_log_whose_file_is_gone_goes_on_in_another_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.log");
        let mut log = LogFile::open(&path).unwrap();
        fs::remove_file(&path).unwrap();
        let part = [b'x'; 1 << 20];
        (0..5).for_each(|_| log.append(&part));
        assert_eq!(fs::read(&path).unwrap().len(), 1 << 20);
    }
}
