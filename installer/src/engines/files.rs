//! The files of a build: verifies, unpacks and copies them within limits.
//!
//! An archive may contain regular files, folders, and links to a file in the same folder. No entry is written outside the
//! target folder.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "IO shell: unpacks and copies a build"
)]

use std::{
    fs::File,
    io::{self, Read as _},
    path::{Component, Path, PathBuf},
};

use flate2::read::GzDecoder;
use link_protocol::limits::ENGINE_SIZE;
use sha2::{Digest as _, Sha256};
use tar::Archive;

use super::{EngineError, failed};

/// The maximum number of files in a build.
pub(super) const MOST_FILES: usize = 4096;
/// The maximum depth of the engine's executable in an archive.
pub(super) const DEPTH: usize = 4;

/// Verifies the checksum of a file.
pub(super) fn verify(path: &Path, expected: &str) -> Result<(), EngineError> {
    let mut file = File::open(path).map_err(|source| failed("read", path, source))?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1024 * 1024];
    loop {
        let read = file.read(&mut buffer).map_err(|source| failed("read", path, source))?;
        if read == 0 {
            break;
        }
        hasher.update(&buffer[..read]);
    }
    let found: String = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    if found.eq_ignore_ascii_case(expected) {
        return Ok(());
    }
    Err(EngineError::Altered { path: path.to_owned(), found })
}

/// Unpacks regular files, folders, and links to a file in the same folder.
pub(super) fn unpack(archive: &Path, into: &Path) -> Result<(), EngineError> {
    let unreadable = |source| failed("unpack", archive, source);
    let file = File::open(archive).map_err(unreadable)?;
    let mut archive = Archive::new(GzDecoder::new(io::BufReader::new(file)));
    let (mut files, mut bytes) = (0_usize, 0_u64);
    for entry in archive.entries().map_err(unreadable)? {
        let mut entry = entry.map_err(unreadable)?;
        let path = entry.path().map_err(unreadable)?.into_owned();
        let kind = entry.header().entry_type();
        let is_neighbour = |target: &Path| {
            let mut parts = target.components();
            matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None))
        };
        let link = entry.link_name().map_err(unreadable)?.map(std::borrow::Cow::into_owned);
        if kind.is_pax_global_extensions() {
            continue;
        }
        let is_link = kind.is_symlink() && link.as_deref().is_some_and(is_neighbour);
        let is_plain = kind.is_file() || kind.is_dir() || is_link;
        if !is_plain {
            return Err(EngineError::NotPlain(path.display().to_string()));
        }
        files += 1;
        bytes = bytes.saturating_add(entry.size());
        if files > MOST_FILES || bytes > ENGINE_SIZE {
            return Err(EngineError::TooLarge);
        }
        if !entry.unpack_in(into).map_err(unreadable)? {
            return Err(EngineError::NotPlain(path.display().to_string()));
        }
    }
    Ok(())
}

/// Searches the folder that contains the executable.
pub(super) fn find(folder: &Path, executable: &str, depth: usize) -> Option<PathBuf> {
    let here = std::fs::symlink_metadata(folder.join(executable));
    if here.is_ok_and(|metadata| metadata.is_file()) {
        return Some(folder.to_owned());
    }
    let below = depth.checked_sub(1)?;
    let entries = std::fs::read_dir(folder).ok()?;
    let folders =
        entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.take(MOST_FILES).find_map(|entry| find(&entry.path(), executable, below))
}

/// Copies the files of a folder and of the folders in it, and links to files in the same folder.
pub(super) fn copy(from: &Path, to: &Path) -> Result<(), EngineError> {
    let mut copied = Copied::default();
    copied.folder(from, to, DEPTH)
}

/// What was copied so far.
#[derive(Default)]
struct Copied {
    files: usize,
    bytes: u64,
}

impl Copied {
    fn folder(&mut self, from: &Path, to: &Path, depth: usize) -> Result<(), EngineError> {
        std::fs::create_dir_all(to).map_err(|source| failed("create", to, source))?;
        for entry in std::fs::read_dir(from).map_err(|source| failed("read", from, source))? {
            let entry = entry.map_err(|source| failed("read", from, source))?;
            let (path, target) = (entry.path(), to.join(entry.file_name()));
            let metadata = std::fs::symlink_metadata(&path);
            let metadata = metadata.map_err(|source| failed("read", &path, source))?;
            self.files += 1;
            self.bytes = self.bytes.saturating_add(metadata.len());
            if self.files > MOST_FILES || self.bytes > ENGINE_SIZE {
                return Err(EngineError::TooLarge);
            }
            let copied = if metadata.is_dir() {
                match depth.checked_sub(1) {
                    Some(below) => self.folder(&path, &target, below)?,
                    None => return Err(EngineError::NotPlain(path.display().to_string())),
                }
                Ok(())
            } else if metadata.is_file() {
                std::fs::copy(&path, &target).map(|_| ())
            } else if metadata.is_symlink() {
                link(&path, &target)
            } else {
                Ok(())
            };
            copied.map_err(|source| failed("copy", &path, source))?;
        }
        Ok(())
    }
}

/// Copies the target of a link under the link's name, if the target is in the same folder.
fn link(path: &Path, target: &Path) -> io::Result<()> {
    let leads_to = std::fs::canonicalize(path)?;
    let folder = path.parent().map(std::fs::canonicalize).transpose()?;
    if leads_to.is_file() && leads_to.parent() == folder.as_deref() {
        std::fs::copy(&leads_to, target)?;
    }
    Ok(())
}
