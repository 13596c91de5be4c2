//! An incomplete model file, which survives cut connections and restarts until its upload resumes.
//!
//! `.partial-MODEL` holds the bytes. A separate checkpoint holds the number of synced bytes and the state of their
//! hash. When the upload resumes, bytes after the checkpoint are cut off, so the hash always matches the file. Only one
//! process writes at a time.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "IO shell: files are what this module is for"
)]

use std::{
    fs::File,
    io::{self, Read as _, Seek as _},
    path::{Path, PathBuf},
};

use link_protocol::{gguf::Inspection, id::ModelId};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use crate::content::hash;

/// The start of the data file's name, before the model's id.
const DATA: &str = ".partial-";
/// The end of a checkpoint's name.
const CHECKPOINT: &str = ".json";

/// An incomplete file that is open for more bytes.
#[derive(Debug)]
pub(super) struct Partial {
    pub(super) files: Files,
    pub(super) data: File,
    pub(super) begun: Begun,
}

/// The bytes that were received by earlier requests.
#[derive(Debug, Default)]
pub(super) struct Begun {
    pub(super) size_bytes: u64,
    pub(super) hasher: Sha256,
    pub(super) inspection: Inspection,
}

/// The paths of a file that does not have its final name yet.
#[derive(Clone, Debug)]
pub(super) struct Files {
    pub(super) data: PathBuf,
    checkpoint: PathBuf,
}

#[derive(Deserialize, Serialize)]
struct Checkpoint {
    size_bytes: u64,
    /// The state of the hash, in hexadecimal digits.
    hash: String,
}

impl Files {
    pub(super) fn of(folder: &Path, model: ModelId) -> Self {
        let data = folder.join(format!("{DATA}{model}"));
        let checkpoint = folder.join(format!("{DATA}{model}{CHECKPOINT}"));
        Self { data, checkpoint }
    }

    /// Returns the number of stored bytes.
    pub(super) fn size_bytes(&self) -> u64 {
        let there = std::fs::metadata(&self.data).map_or(0, |found| found.len());
        self.checkpoint().map_or(0, |(size_bytes, _)| size_bytes).min(there)
    }

    /// Opens the file for appending. Returns `None` while another process has it open.
    pub(super) fn open(self) -> io::Result<Option<Partial>> {
        let mut data =
            File::options().create(true).truncate(false).read(true).write(true).open(&self.data)?;
        match data.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => return Ok(None),
            Err(std::fs::TryLockError::Error(error)) => return Err(error),
        }
        let there = data.metadata()?.len();
        let known = self.checkpoint().filter(|(size_bytes, _)| *size_bytes <= there);
        let (size_bytes, hasher) = known.unwrap_or_default();
        data.set_len(size_bytes)?;
        let inspection = look(&mut data)?;
        data.seek(io::SeekFrom::End(0))?;
        let begun = Begun { size_bytes, hasher, inspection };
        Ok(Some(Partial { files: self, data, begun }))
    }

    /// Writes the checkpoint: `size_bytes` bytes with this hash are on disk.
    pub(super) fn note(&self, size_bytes: u64, hasher: &Sha256) -> io::Result<()> {
        let hash = hash::to_text(hasher);
        let text = serde_json::to_vec(&Checkpoint { size_bytes, hash })?;
        link_platform::fs::write_atomic(&self.checkpoint, &text).map_err(io::Error::other)
    }

    /// Deletes the file and its checkpoint.
    pub(super) fn remove(&self) -> io::Result<()> {
        for path in [&self.checkpoint, &self.data] {
            match std::fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }

    /// Deletes the checkpoint, which a complete file does not need.
    pub(super) fn remove_checkpoint(&self) {
        if let Err(error) = std::fs::remove_file(&self.checkpoint) {
            tracing::debug!(%error, "failed to delete a checkpoint");
        }
    }

    fn checkpoint(&self) -> Option<(u64, Sha256)> {
        let text = link_platform::fs::read_limited(&self.checkpoint, 4096).ok()?;
        let known: Checkpoint = serde_json::from_str(&text).ok()?;
        Some((known.size_bytes, hash::from_text(&known.hash)?))
    }
}

/// Lists the models with incomplete files in `folder`.
pub(super) fn models(folder: &Path) -> io::Result<Vec<ModelId>> {
    let mut models = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name();
        let name = name.to_str().and_then(|name| name.strip_prefix(DATA));
        models.extend(name.and_then(|name| name.parse::<ModelId>().ok()));
    }
    Ok(models)
}

/// Inspects the bytes that were received by earlier requests.
fn look(data: &mut File) -> io::Result<Inspection> {
    let (mut inspection, mut buffer) = (Inspection::default(), vec![0; 64 * 1024]);
    data.rewind()?;
    loop {
        let read = data.read(&mut buffer)?;
        if read == 0 || !inspection.push(&buffer[..read]) {
            return Ok(inspection);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use sha2::Digest as _;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_partial_file_goes_on_behind_its_checkpoint_with_the_hash_of_what_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let model = ModelId::from_uuid(Uuid::from_u128(7));
        let files = Files::of(folder.path(), model);
        let mut first = files.clone().open().unwrap().unwrap();
        assert!(files.clone().open().unwrap().is_none(), "one writer at a time");
        first.data.write_all(b"abcdef").unwrap();
        first.begun.hasher.update(b"abc");
        files.note(3, &first.begun.hasher).unwrap();
        drop(first);
        assert_eq!((files.size_bytes(), models(folder.path()).unwrap()), (3, vec![model]));

        let mut second = files.clone().open().unwrap().unwrap();
        assert_eq!(second.begun.size_bytes, 3);
        second.data.write_all(b"xyz").unwrap();
        second.begun.hasher.update(b"xyz");
        assert_eq!(second.begun.hasher.finalize(), Sha256::digest(b"abcxyz"));
        assert_eq!(std::fs::read(&files.data).unwrap(), b"abcxyz");
        files.remove().unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_checkpoint_that_is_damaged_or_ahead_of_its_file_begins_the_upload_anew() {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::of(folder.path(), ModelId::from_uuid(Uuid::from_u128(7)));
        for damage in
            ["", "{}", r#"{"size_bytes":3,"hash":"zz"}"#, r#"{"size_bytes":3,"hash":"é"}"#]
        {
            std::fs::write(&files.data, b"abc").unwrap();
            std::fs::write(&files.checkpoint, damage).unwrap();
            assert_eq!(files.size_bytes(), 0, "{damage}");
            assert_eq!(files.clone().open().unwrap().unwrap().begun.size_bytes, 0);
        }
        files.note(100, &Sha256::new()).unwrap();
        std::fs::write(&files.data, b"abc").unwrap();
        assert_eq!(files.clone().open().unwrap().unwrap().begun.size_bytes, 0);
    }
}
