//! The files of an unpacked folder, checked before any of them is read.
//!
//! The contents of the folder are not trusted: a file with the name of a program may be a link to a device, a pipe or
//! an endless file. So every entry must be a regular file, all entries are counted and measured first, and no more bytes
//! of a file are read than were measured.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "IO shell: reads the files of an unpacked release"
)]

use std::{
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use link_protocol::{
    command::Sha256Hex,
    limits::{RELEASE_FILES_LIMIT, RELEASE_SIZE_LIMIT, RELEASE_STATEMENT_LIMIT},
    release::{CONTENTS_FILE, FoundFile, KEYS_FILE},
};
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

/// An unpacked folder could not be read as a release.
#[derive(Debug, thiserror::Error)]
pub enum UnpackedError {
    #[error("`{}` is not of the form that a release has", .0.display())]
    Malformed(PathBuf),
    #[error("`{}` is not a regular file", .0.display())]
    NotPlain(PathBuf),
    #[error("`{}` holds more than a release has", .0.display())]
    TooLong(PathBuf),
    #[error("failed to read `{}`", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// The files of a folder, by name and size.
#[derive(Debug)]
pub(crate) struct Unpacked<'a> {
    folder: &'a Path,
    files: Vec<(String, u64)>,
}

impl<'a> Unpacked<'a> {
    /// Lists a folder, and reads none of its files.
    ///
    /// # Errors
    /// If an entry is not a regular file, or if the folder exceeds the limits of a release in number or size.
    pub(crate) fn look(folder: &'a Path) -> Result<Self, UnpackedError> {
        let failed = |source| UnpackedError::Read { path: folder.to_owned(), source };
        let (mut files, mut total) = (Vec::new(), 0_u64);
        for entry in std::fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let metadata = std::fs::symlink_metadata(entry.path()).map_err(failed)?;
            if !metadata.is_file() {
                return Err(UnpackedError::NotPlain(entry.path()));
            }
            total = total.saturating_add(metadata.len());
            if files.len() == RELEASE_FILES_LIMIT || total > RELEASE_SIZE_LIMIT {
                return Err(UnpackedError::TooLong(folder.to_owned()));
            }
            files.push((entry.file_name().to_string_lossy().into_owned(), metadata.len()));
        }
        Ok(Self { folder, files })
    }

    /// Returns the names and the sizes of all files, except the signed statements.
    pub(crate) fn sizes(&self) -> Vec<(&str, u64)> {
        let files = self.files.iter().map(|(name, size)| (name.as_str(), *size));
        files.filter(|(name, _)| !matches!(*name, CONTENTS_FILE | KEYS_FILE)).collect()
    }

    /// Reads a signed statement. None if it does not exist.
    ///
    /// # Errors
    /// If the statement is too long, cannot be read or is malformed.
    pub(crate) fn statement<T: DeserializeOwned>(
        &self,
        name: &str,
    ) -> Result<Option<T>, UnpackedError> {
        let path = self.folder.join(name);
        let Some((_, size)) = self.files.iter().find(|(found, _)| found == name) else {
            return Ok(None);
        };
        if *size > RELEASE_STATEMENT_LIMIT {
            return Err(UnpackedError::TooLong(path));
        }
        let mut text = Vec::new();
        let read = File::open(&path).and_then(|file| file.take(*size).read_to_end(&mut text));
        match read {
            Ok(_) => {
                serde_json::from_slice(&text).map(Some).map_err(|_| UnpackedError::Malformed(path))
            }
            Err(source) => Err(UnpackedError::Read { path, source }),
        }
    }

    /// Hashes one of the files.
    ///
    /// # Errors
    /// If the file does not exist or cannot be read.
    pub(crate) fn hash(&self, name: &str) -> Result<FoundFile, UnpackedError> {
        let path = self.folder.join(name);
        let failed = |source| UnpackedError::Read { path: path.clone(), source };
        let known = self.files.iter().find(|(found, _)| found == name);
        let (_, size) = known.ok_or_else(|| failed(io::ErrorKind::NotFound.into()))?;
        // Read one byte more than measured, so that a file that has grown gets another hash.
        let limit = size.saturating_add(1);
        let (sha256, size_bytes) = hash_at_most(&path, limit).map_err(failed)?;
        Ok(FoundFile { name: name.to_owned(), size_bytes, sha256 })
    }
}

/// Returns the SHA-256 of a file and its size.
pub(crate) fn hash(path: &Path) -> io::Result<(Sha256Hex, u64)> {
    hash_at_most(path, u64::MAX)
}

/// Returns the SHA-256 of bytes.
pub(crate) fn hash_of(bytes: &[u8]) -> Sha256Hex {
    Sha256Hex::from_digest(&Sha256::digest(bytes))
}

/// Opens a file in a local source of releases if it is a regular file: opening a pipe would block.
///
/// # Errors
/// If the file does not exist, is not a regular file or cannot be opened.
pub(crate) fn open_plain(path: &Path) -> io::Result<File> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other(format!("`{}` is not a regular file", path.display())));
    }
    File::open(path)
}

fn hash_at_most(path: &Path, limit: u64) -> io::Result<(Sha256Hex, u64)> {
    let mut file = File::open(path)?.take(limit);
    let (mut hasher, mut buffer, mut size) = (Sha256::new(), vec![0; 256 * 1024], 0);
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok((Sha256Hex::from_digest(&hasher.finalize()), size));
        }
        hasher.update(&buffer[..read]);
        size += read as u64;
    }
}
