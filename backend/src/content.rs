//! Model files on disk: received as a stream, kept only when they are what was announced.
//!
//! A file is written under a temporary name, hashed on the way, made durable, and then renamed; a
//! crash or a cut leaves nothing that could be taken for a model.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "IO shell: files are what this module is for"
)]

use std::{
    io,
    path::{Path, PathBuf},
    pin::pin,
};

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};
use link_protocol::{command::Sha256Hex, id::ModelId, limits};
use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;
use tokio::io::{AsyncSeekExt as _, AsyncWriteExt as _};

use crate::domain::model::Received;

const TEMPORARY: &str = ".upload-";
/// The folder of models in the data folder.
pub const FOLDER: &str = "models";

/// The folder that holds model files.
#[derive(Clone, Debug)]
pub struct ContentFolder {
    folder: PathBuf,
}

/// A file that was received and is not kept yet. Dropping it deletes it.
#[derive(Debug)]
pub struct Upload {
    file: NamedTempFile,
    pub received: Received,
}

/// A file could not be received.
#[derive(Debug, thiserror::Error)]
pub enum ReceiveError {
    /// The sender broke off.
    #[error("the content ended early")]
    Cut,
    /// It is larger than any model may be.
    #[error("the content is too large")]
    TooLarge,
    /// It could not be written.
    #[error("failed to write the content")]
    Write(#[source] io::Error),
}

impl ContentFolder {
    /// Opens the folder.
    ///
    /// # Errors
    /// When the folder cannot be made.
    pub fn open(folder: PathBuf) -> io::Result<Self> {
        std::fs::create_dir_all(&folder)?;
        Ok(Self { folder })
    }

    /// Deletes what earlier uploads left when the backend was killed; none may be running.
    ///
    /// # Errors
    /// When the folder cannot be listed or a file not deleted.
    pub fn clear_uploads(&self) -> io::Result<()> {
        for entry in std::fs::read_dir(&self.folder)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(TEMPORARY) {
                std::fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }

    /// Writes `content` to a temporary file, on disk when this returns.
    ///
    /// # Errors
    /// [`ReceiveError`]; nothing is left then.
    pub async fn receive<E>(
        &self,
        content: impl Stream<Item = Result<Bytes, E>> + Send,
    ) -> Result<Upload, ReceiveError> {
        let file = tempfile::Builder::new()
            .prefix(TEMPORARY)
            .tempfile_in(&self.folder)
            .map_err(ReceiveError::Write)?;
        let handle = file.as_file().try_clone().map_err(ReceiveError::Write)?;
        let mut writer = tokio::fs::File::from_std(handle);
        let (mut hasher, mut size_bytes) = (Sha256::new(), 0_u64);
        let mut content = pin!(content);
        while let Some(chunk) = content.next().await {
            let chunk = chunk.map_err(|_cause| ReceiveError::Cut)?;
            size_bytes = size_bytes.saturating_add(chunk.len() as u64);
            if size_bytes > limits::MODEL_SIZE_LIMIT {
                return Err(ReceiveError::TooLarge);
            }
            hasher.update(&chunk);
            writer.write_all(&chunk).await.map_err(ReceiveError::Write)?;
        }
        writer.sync_all().await.map_err(ReceiveError::Write)?;
        let sha256 = Sha256Hex::from_digest(&hasher.finalize());
        Ok(Upload { file, received: Received { sha256, size_bytes } })
    }

    /// Keeps an upload as the file of `model`.
    ///
    /// # Errors
    /// When it cannot be renamed.
    pub async fn keep(&self, model: ModelId, upload: Upload) -> io::Result<()> {
        let path = self.path(model, &upload.received.sha256);
        let folder = self.folder.clone();
        let kept = tokio::task::spawn_blocking(move || {
            upload.file.persist(path).map_err(|error| error.error)?;
            sync_folder(&folder)
        });
        kept.await.map_err(io::Error::other)?
    }

    /// Opens the file of a model at `offset`.
    ///
    /// # Errors
    /// When it is not there or cannot be read.
    pub async fn read(
        &self,
        model: ModelId,
        sha256: &Sha256Hex,
        offset: u64,
    ) -> io::Result<tokio::fs::File> {
        let mut file = tokio::fs::File::open(self.path(model, sha256)).await?;
        if offset > 0 {
            file.seek(io::SeekFrom::Start(offset)).await?;
        }
        Ok(file)
    }

    /// Deletes the file of a model, if there is one.
    ///
    /// # Errors
    /// When it is there and cannot be deleted.
    pub async fn remove(&self, model: ModelId, sha256: &Sha256Hex) -> io::Result<()> {
        match tokio::fs::remove_file(self.path(model, sha256)).await {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Both parts of the name are made of letters, digits and one character between them.
    fn path(&self, model: ModelId, sha256: &Sha256Hex) -> PathBuf {
        self.folder.join(format!("{model}.{sha256}"))
    }
}

/// Makes the rename itself durable: the folder's entry is data too.
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
        ContentFolder::open(folder.clone()).unwrap().clear_uploads().unwrap();
        let left: Vec<_> =
            std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left, ["mdl_1.sha"]);
    }
}
