//! A backup: one tar archive of the files of the data folder, with a manifest at its end.
//!
//! The manifest lists every part with its size and SHA-256, so a reader detects any change. A truncated archive has no
//! manifest.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "IO shell: reads and writes an archive"
)]

use std::{
    collections::BTreeSet,
    fs::File,
    io::{self, Read, Write},
    os::unix::fs::OpenOptionsExt as _,
    path::{Component, Path, PathBuf},
};

use link_protocol::command::Sha256Hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// The version of the format. Other versions are refused.
pub(crate) const FORMAT: u32 = 1;

const MANIFEST: &str = "manifest.json";
const MANIFEST_LIMIT: u64 = 256 * 1024 * 1024;
const CHUNK: usize = 256 * 1024;
/// The mode of parts and archives: only the owner has access.
const PRIVATE: u32 = 0o600;

/// The contents of a backup.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct Manifest {
    pub format: u32,
    /// The version of the program that wrote the backup.
    pub version: semver::Version,
    pub created_at: jiff::Timestamp,
    /// The newest migration of the database, if the database is a part.
    pub schema: Option<i64>,
    pub parts: Vec<Part>,
}

/// A file of the data folder.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct Part {
    /// The path relative to the data folder, with `/` between folders.
    pub path: String,
    pub size_bytes: u64,
    pub sha256: Sha256Hex,
}

/// A backup cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InvalidBackup {
    /// The backup cannot be read, or a part cannot be written.
    #[error("failed to unpack the backup")]
    Io(#[source] io::Error),
    /// The file does not begin as an archive.
    #[error("it is not a backup of link-backend; give a file that `link-backend backup` wrote")]
    NotABackup,
    /// The backup ends before its manifest, or its structure is damaged.
    #[error("the backup is cut off or damaged; copy it again, or restore an earlier backup")]
    Cut,
    /// The manifest is malformed.
    #[error("the manifest of the backup cannot be read")]
    Manifest(#[source] serde_json::Error),
    /// The archive belongs to another program or a later version.
    #[error("the backup has format {0}, and this program reads format {FORMAT}: use a newer one")]
    Format(u32),
    /// A part differs from the manifest.
    #[error("`{0}` in the backup is damaged")]
    Damaged(String),
    /// The manifest lacks a part, or a path leads out of the data folder.
    #[error("`{0}` does not belong in a backup")]
    Foreign(String),
}

/// Writes parts into an archive.
pub(crate) struct Writer<W: Write> {
    tar: tar::Builder<W>,
    parts: Vec<Part>,
}

impl<W: Write> Writer<W> {
    /// Starts an archive.
    pub(crate) fn new(out: W) -> Self {
        Self { tar: tar::Builder::new(out), parts: Vec::new() }
    }

    /// Adds the file `from` under the path `path`, and calls `copied` with numbers of copied bytes.
    ///
    /// # Errors
    /// If the file cannot be read or the archive cannot be written.
    pub(crate) fn add(
        &mut self,
        path: &str,
        from: &Path,
        copied: &mut dyn FnMut(u64),
    ) -> io::Result<()> {
        let file = File::open(from)?;
        let size_bytes = file.metadata()?.len();
        // A file that grows meanwhile is truncated. A file that shrinks is an error.
        let mut reader =
            Hashing { inner: file.take(size_bytes), hasher: Sha256::new(), copied, read: 0 };
        self.tar.append_data(&mut header(size_bytes), path, &mut reader)?;
        if reader.read != size_bytes {
            let cut = format!("`{}` became shorter while it was read", from.display());
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, cut));
        }
        let sha256 = Sha256Hex::from_digest(&reader.hasher.finalize());
        self.parts.push(Part { path: path.to_owned(), size_bytes, sha256 });
        Ok(())
    }

    /// Writes the manifest and ends the archive.
    ///
    /// # Errors
    /// If the archive cannot be written.
    pub(crate) fn finish(
        mut self,
        version: semver::Version,
        created_at: jiff::Timestamp,
        schema: Option<i64>,
    ) -> io::Result<(W, Manifest)> {
        let parts = std::mem::take(&mut self.parts);
        let manifest = Manifest { format: FORMAT, version, created_at, schema, parts };
        let text = serde_json::to_vec_pretty(&manifest)?;
        self.tar.append_data(&mut header(text.len() as u64), MANIFEST, text.as_slice())?;
        Ok((self.tar.into_inner()?, manifest))
    }
}

/// Unpacks the archive into the empty folder `to`. Returns the manifest once every part matches it and is synced.
///
/// # Errors
/// [`InvalidBackup`]; the files in `to` are then useless.
pub(crate) fn unpack(
    from: impl Read,
    to: &Path,
    copied: &mut dyn FnMut(u64),
) -> Result<Manifest, InvalidBackup> {
    let mut tar = tar::Archive::new(from);
    let mut found = Vec::new();
    let mut manifest = None;
    for (index, entry) in tar.entries().map_err(InvalidBackup::Io)?.enumerate() {
        let mut entry = entry.map_err(|error| unreadable(error, index))?;
        let path = entry.path().map_err(InvalidBackup::Io)?.to_string_lossy().into_owned();
        if path == MANIFEST {
            let mut text = Vec::new();
            entry
                .by_ref()
                .take(MANIFEST_LIMIT)
                .read_to_end(&mut text)
                .map_err(InvalidBackup::Io)?;
            manifest = Some(text);
        } else if manifest.is_some() || !entry.header().entry_type().is_file() || leaves(&path) {
            return Err(InvalidBackup::Foreign(path));
        } else {
            found.push(write(entry, &path, to, copied).map_err(InvalidBackup::Io)?);
        }
    }
    let manifest: Manifest = serde_json::from_slice(&manifest.ok_or(InvalidBackup::Cut)?)
        .map_err(InvalidBackup::Manifest)?;
    if manifest.format != FORMAT {
        return Err(InvalidBackup::Format(manifest.format));
    }
    check(&manifest.parts, &found)?;
    Ok(manifest)
}

/// Returns why the entry with this index cannot be read. The reader reports malformed bytes as `Other`, and a failed read
/// with the kind of its cause.
fn unreadable(error: io::Error, index: usize) -> InvalidBackup {
    match (error.kind(), index) {
        (io::ErrorKind::Other, 0) => InvalidBackup::NotABackup,
        (io::ErrorKind::Other, _) => InvalidBackup::Cut,
        _ => InvalidBackup::Io(error),
    }
}

/// Checks that the archive holds each part of the manifest once, and nothing else.
fn check(named: &[Part], found: &[Part]) -> Result<(), InvalidBackup> {
    let names: BTreeSet<_> = named.iter().map(|part| &part.path).collect();
    if let Some(foreign) = found.iter().find(|part| !names.contains(&part.path)) {
        return Err(InvalidBackup::Foreign(foreign.path.clone()));
    }
    let is_there = |part: &Part| found.iter().filter(|other| *other == part).count() == 1;
    match named.iter().find(|part| !is_there(part)) {
        Some(part) => Err(InvalidBackup::Damaged(part.path.clone())),
        None => Ok(()),
    }
}

fn write(entry: impl Read, path: &str, to: &Path, copied: &mut dyn FnMut(u64)) -> io::Result<Part> {
    let target: PathBuf = to.join(path);
    std::fs::create_dir_all(target.parent().unwrap_or(to))?;
    let mut file = File::options().write(true).create_new(true).mode(PRIVATE).open(&target)?;
    let mut reader = Hashing { inner: entry, hasher: Sha256::new(), copied, read: 0 };
    let size_bytes = io::copy(&mut reader, &mut file)?;
    file.sync_all()?;
    let sha256 = Sha256Hex::from_digest(&reader.hasher.finalize());
    Ok(Part { path: path.to_owned(), size_bytes, sha256 })
}

fn leaves(path: &str) -> bool {
    let mut parts = Path::new(path).components();
    path.is_empty() || parts.any(|part| !matches!(part, Component::Normal(_)))
}

fn header(size_bytes: u64) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::Regular);
    header.set_size(size_bytes);
    header.set_mode(PRIVATE);
    header.set_mtime(0);
    header
}

/// A reader that hashes the bytes it reads.
struct Hashing<'a, R> {
    inner: R,
    hasher: Sha256,
    copied: &'a mut dyn FnMut(u64),
    read: u64,
}

impl<R: Read> Read for Hashing<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer.len().min(CHUNK);
        let read = self.inner.read(&mut buffer[..most])?;
        self.hasher.update(&buffer[..read]);
        self.read += read as u64;
        (self.copied)(read as u64);
        Ok(read)
    }
}

#[cfg(test)]
mod tests;
