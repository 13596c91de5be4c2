//! The tar archives of plugins: regular files in one folder for each plugin, as `ID/FILE`.
//!
//! An archive is read in memory and never unpacked by the reader. An entry that is anything but a regular file with such a
//! name is refused, and the bounds hold before an entry is read, whatever its header says.

use std::{
    collections::HashSet,
    io::{self, Read},
    path::{Component, Path},
};

use link_protocol::file_name::FileName;

/// The modification time of every entry: 1 January 2026, in Unix seconds.
const MODIFIED: u64 = 1_767_225_600;
/// The bytes of a header, and the least bytes of padding.
const BLOCK: u64 = 512;

/// A file of an archive.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct PackedFile {
    pub(super) folder: String,
    pub(super) name: String,
    pub(super) contents: Vec<u8>,
    pub(super) is_program: bool,
}

/// The bounds of an archive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// The most files.
    pub(super) files: usize,
    /// The most bytes of all files together.
    pub(super) bytes: u64,
}

/// An archive is refused.
#[derive(Debug, thiserror::Error)]
pub(super) enum RefusedArchive {
    #[error("it holds `{0}`, which is not a regular file with a name like `ID/FILE`")]
    NotPlain(String),
    #[error("it holds `{0}` twice")]
    Twice(String),
    #[error("it holds more than {} files or {} bytes", .0.files, .0.bytes)]
    TooLarge(Bounds),
    #[error("it cannot be read")]
    Unreadable(#[from] io::Error),
}

/// Reads the files of an archive.
///
/// # Errors
/// [`RefusedArchive`] with the first fault.
pub(super) fn read(archive: impl Read, bounds: Bounds) -> Result<Vec<PackedFile>, RefusedArchive> {
    // The crate reads extended headers into memory, so the whole archive is bounded too.
    let headers = BLOCK.saturating_mul(4).saturating_mul(bounds.files as u64 + 1);
    let mut archive = tar::Archive::new(archive.take(bounds.bytes.saturating_add(headers)));
    let (mut files, mut names, mut left) = (Vec::new(), HashSet::new(), bounds.bytes);
    for entry in archive.entries()? {
        let mut entry = entry?;
        let path = entry.path()?.into_owned();
        let shown = || path.display().to_string();
        let is_plain = entry.header().entry_type() == tar::EntryType::Regular;
        let (folder, name) = names_of(&path)
            .filter(|_| is_plain)
            .ok_or_else(|| RefusedArchive::NotPlain(shown()))?;
        left = left.checked_sub(entry.size()).ok_or(RefusedArchive::TooLarge(bounds))?;
        if files.len() == bounds.files {
            return Err(RefusedArchive::TooLarge(bounds));
        }
        // Two names that differ in case are one file on some systems.
        if !names.insert(format!("{folder}/{name}").to_lowercase()) {
            return Err(RefusedArchive::Twice(shown()));
        }
        let is_program = entry.header().mode()? & 0o111 != 0;
        let mut contents = Vec::new();
        entry.read_to_end(&mut contents)?;
        files.push(PackedFile { folder, name, contents, is_program });
    }
    Ok(files)
}

/// Writes an archive. The bytes depend only on the files.
///
/// # Errors
/// If a name is too long for an archive.
pub(super) fn write(files: &[PackedFile]) -> io::Result<Vec<u8>> {
    let mut archive = tar::Builder::new(Vec::new());
    for PackedFile { folder, name, contents, is_program } in files {
        let mut header = tar::Header::new_ustar();
        header.set_entry_type(tar::EntryType::Regular);
        header.set_size(contents.len() as u64);
        header.set_mode(if *is_program { 0o755 } else { 0o644 });
        header.set_mtime(MODIFIED);
        header.set_uid(0);
        header.set_gid(0);
        archive.append_data(&mut header, format!("{folder}/{name}"), contents.as_slice())?;
    }
    archive.into_inner()
}

/// Returns the folder and the file of `FOLDER/FILE`. None for any other path.
fn names_of(path: &Path) -> Option<(String, String)> {
    let mut parts = path.components();
    let (Some(Component::Normal(folder)), Some(Component::Normal(name)), None) =
        (parts.next(), parts.next(), parts.next())
    else {
        return None;
    };
    let safe = |name: &std::ffi::OsStr| name.to_str()?.parse::<FileName>().ok();
    Some((safe(folder)?.as_str().to_owned(), safe(name)?.as_str().to_owned()))
}
