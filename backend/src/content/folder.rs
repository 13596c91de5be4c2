//! Model files in a folder.
//!
//! A file is written under a temporary name, synced, and then renamed.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "IO shell: files are what this module is for"
)]

use std::{
    collections::BTreeSet,
    io::{self, Write as _},
    ops::Range,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use bytes::Bytes;
use futures_util::Stream;
use link_platform::disk;
use link_protocol::id::ModelId;
use tempfile::NamedTempFile;
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _, AsyncWriteExt as _};
use tokio_util::io::ReaderStream;

use crate::{
    content::{
        Announced, Reading,
        fault::{ContentError, ReceiveError, is_full},
        partial::{self, Files, Partial},
        parts::Parts,
    },
    domain::model::Received,
};

const TEMPORARY: &str = ".upload-";
/// The size of a read, in bytes.
const CHUNK: usize = 256 * 1024;
/// The number of bytes that are written between two checks of the free disk space.
const UNCHECKED: usize = 4 * 1024 * 1024;
/// The maximum number of bytes of a resumable upload that a crash of the backend may lose.
const UNSAVED: u64 = 32 * 1024 * 1024;

/// The folder that holds model files.
#[derive(Clone, Debug)]
pub struct Folder {
    folder: PathBuf,
    /// The disk space that uploads leave free, in bytes.
    reserve: u64,
}

/// A file under a temporary name. Dropping the value deletes the file.
#[derive(Debug)]
pub(super) struct Temporary(NamedTempFile);

impl Folder {
    pub(super) fn open(folder: PathBuf) -> anyhow::Result<Self> {
        std::fs::create_dir_all(&folder)
            .with_context(|| format!("failed to make the folder `{}`", folder.display()))?;
        Ok(Self { folder, reserve: 0 })
    }

    pub(super) fn keeping_free(self, reserve: u64) -> Self {
        Self { reserve, ..self }
    }

    pub(super) fn clear_uploads(&self) -> io::Result<()> {
        for entry in std::fs::read_dir(&self.folder)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(TEMPORARY) {
                std::fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }

    /// Writes `content` to a temporary file and syncs it.
    pub(super) async fn receive<E>(
        &self,
        size_bytes: Option<u64>,
        content: impl Stream<Item = Result<Bytes, E>> + Send,
    ) -> Result<(Received, Temporary), ReceiveError> {
        self.check_room(size_bytes.unwrap_or(0))?;
        let file = self.temporary().map_err(broken)?;
        let handle = file.as_file().try_clone().map_err(broken)?;
        let mut writer = tokio::fs::File::from_std(handle);
        let mut parts = Parts::new(content);
        let mut unchecked = 0;
        while let Some(piece) = parts.piece().await? {
            unchecked += piece.len();
            if unchecked > UNCHECKED {
                self.check_room(0)?;
                unchecked = 0;
            }
            writer.write_all(&piece).await.map_err(broken)?;
        }
        writer.sync_all().await.map_err(broken)?;
        Ok((parts.received(), Temporary(file)))
    }

    /// Resumes the upload of a file of `size_bytes` at `offset`. Returns the new offset and, if the file is complete,
    /// the received file.
    pub(super) async fn go_on<E>(
        &self,
        announced: &Announced,
        (offset, size_bytes): (u64, u64),
        content: impl Stream<Item = Result<Bytes, E>> + Send,
    ) -> Result<(u64, Option<(Received, Files)>), ReceiveError> {
        self.check_room(size_bytes.saturating_sub(offset))?;
        let files = Files::of(&self.folder, announced.model);
        let opened = tokio::task::spawn_blocking(|| files.open()).await;
        let opened = opened.map_err(io::Error::other).flatten().map_err(broken)?;
        let Partial { files, data, begun } = opened.ok_or(ReceiveError::Busy)?;
        if begun.size_bytes != offset {
            return Err(ReceiveError::Elsewhere(begun.size_bytes));
        }
        let mut writer = tokio::fs::File::from_std(data);
        let mut parts = Parts::after(begun, content);
        let ended = self.write(&mut parts, (&mut writer, &files), offset).await;
        // The received bytes are kept even after an error.
        writer.sync_all().await.map_err(broken)?;
        let (there, hasher) = parts.so_far();
        match ended {
            Ok(()) | Err(ReceiveError::Cut | ReceiveError::Slow) => {}
            // Not all counted bytes are on disk.
            Err(error) => return Err(error),
        }
        files.note(there, hasher).map_err(broken)?;
        let whole = (there == size_bytes).then(|| (parts.received(), files));
        Ok((there, whole))
    }

    /// Writes the received chunks, with a checkpoint after every [`UNSAVED`] bytes.
    async fn write<S, E>(
        &self,
        parts: &mut Parts<S>,
        (writer, files): (&mut tokio::fs::File, &Files),
        offset: u64,
    ) -> Result<(), ReceiveError>
    where
        S: Stream<Item = Result<Bytes, E>> + Send,
    {
        let mut saved = offset;
        while let Some(piece) = parts.piece().await? {
            writer.write_all(&piece).await.map_err(broken)?;
            let (there, hasher) = parts.so_far();
            if there - saved >= UNSAVED {
                writer.sync_data().await.map_err(broken)?;
                files.note(there, hasher).map_err(broken)?;
                self.check_room(0)?;
                saved = there;
            }
        }
        Ok(())
    }

    /// Gives a file that arrived in several requests its final name.
    pub(super) async fn keep_whole(&self, name: &str, files: Files) -> io::Result<()> {
        let (path, folder) = (self.folder.join(name), self.folder.clone());
        let kept = tokio::task::spawn_blocking(move || {
            std::fs::rename(&files.data, path)?;
            files.remove_checkpoint();
            sync_folder(&folder)
        });
        kept.await.map_err(io::Error::other)?
    }

    /// Returns the paths of a model's incomplete file.
    pub(super) fn partial(&self, model: ModelId) -> Files {
        Files::of(&self.folder, model)
    }

    /// Lists the models whose files are incomplete.
    pub(super) fn partials(&self) -> io::Result<Vec<ModelId>> {
        partial::models(&self.folder)
    }

    /// Checks that the disk has space for `more` bytes in addition to the reserve.
    fn check_room(&self, more: u64) -> Result<(), ReceiveError> {
        let free = disk::free_bytes(&self.folder).map_err(broken)?;
        let needed = self.reserve.saturating_add(more);
        if free.is_some_and(|free| free < needed) { Err(ReceiveError::NoRoom) } else { Ok(()) }
    }

    pub(super) async fn keep(&self, name: &str, temporary: Temporary) -> io::Result<()> {
        let path = self.folder.join(name);
        let folder = self.folder.clone();
        let kept = tokio::task::spawn_blocking(move || {
            temporary.0.persist(path).map_err(|error| error.error)?;
            sync_folder(&folder)
        });
        kept.await.map_err(io::Error::other)?
    }

    pub(super) async fn read(&self, name: &str, range: Range<u64>) -> io::Result<Reading> {
        let mut file = tokio::fs::File::open(self.folder.join(name)).await?;
        if range.start > 0 {
            file.seek(io::SeekFrom::Start(range.start)).await?;
        }
        let part = file.take(range.end.saturating_sub(range.start));
        Ok(Box::pin(ReaderStream::with_capacity(part, CHUNK)))
    }

    pub(super) async fn remove(&self, name: &str) -> io::Result<()> {
        match tokio::fs::remove_file(self.folder.join(name)).await {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    pub(super) fn names(&self) -> io::Result<BTreeSet<String>> {
        let mut names = BTreeSet::new();
        for entry in std::fs::read_dir(&self.folder)? {
            let name = entry?.file_name().into_string();
            names.extend(name.ok().filter(|name| !name.starts_with('.')));
        }
        Ok(names)
    }

    pub(super) fn probe(&self) -> io::Result<()> {
        let mut file = self.temporary()?;
        file.write_all(b"probe")?;
        let read = std::fs::read(file.path())?;
        let is_same = read == b"probe";
        file.close()?;
        if is_same { Ok(()) } else { Err(io::Error::other("another content is read than written")) }
    }

    fn temporary(&self) -> io::Result<NamedTempFile> {
        tempfile::Builder::new().prefix(TEMPORARY).tempfile_in(&self.folder)
    }
}

fn broken(error: io::Error) -> ReceiveError {
    if is_full(&error) {
        ReceiveError::NoRoom
    } else {
        ReceiveError::Home(ContentError::Folder(error))
    }
}

/// Syncs the folder, so that the rename survives a crash.
fn sync_folder(folder: &Path) -> io::Result<()> {
    std::fs::File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_upload_left_is_deleted_at_the_next_start() {
        let data = tempfile::tempdir().unwrap();
        let folder = data.path().join("models");
        std::fs::create_dir(&folder).unwrap();
        for name in [".upload-x1", "mdl_1.sha"] {
            std::fs::File::create(folder.join(name)).unwrap();
        }
        let opened = Folder::open(folder.clone()).unwrap();
        opened.clear_uploads().unwrap();
        assert_eq!(opened.names().unwrap(), BTreeSet::from(["mdl_1.sha".to_owned()]));
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    }
}
