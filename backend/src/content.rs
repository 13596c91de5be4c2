//! Model files: received as a stream and kept only if they match their announcement.
//!
//! Model files are stored either in a folder or in a bucket of an S3 store. Both behave the same: a file gets its final
//! name only when it is complete, so leftovers of a crash or a cut connection are never mistaken for a model. They are
//! deleted later.

mod announced;
mod bucket;
mod fault;
mod folder;
mod hash;
mod partial;
mod parts;

pub use announced::Announced;
pub use bucket::{Addressing, BucketConfig, InvalidBucket, Resumed, Standing};
pub use fault::{BucketFault, ContentError, ReceiveError};

use std::{collections::BTreeSet, io, ops::Range, path::Path, pin::Pin, sync::Arc};

use bytes::Bytes;
use futures_util::Stream;
use link_protocol::{command::Sha256Hex, id::ModelId};

use crate::{
    content::{announced::name, bucket::Bucket, folder::Folder},
    domain::model::Received,
};

/// The folder of models in the data folder.
pub const FOLDER: &str = "models";

/// The location of the model files.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Home {
    /// The folder of models in the data folder.
    #[default]
    Folder,
    Bucket(Box<BucketConfig>),
}

/// The stored model files of a backend.
#[derive(Clone, Debug)]
pub enum Contents {
    Folder(Folder),
    Bucket(Arc<Bucket>),
}

/// A received file that does not have its final name yet. Dropping an upload deletes its file, unless the upload can be
/// resumed.
#[derive(Debug)]
pub struct Upload {
    pub received: Received,
    place: Place,
}

#[derive(Debug)]
enum Place {
    Folder(folder::Temporary),
    Whole(partial::Files),
    Bucket(bucket::Pending),
}

/// The progress of a file that arrives over several requests.
#[derive(Debug)]
pub struct Progress {
    pub offset: u64,
    /// The file, once it is complete.
    pub upload: Option<Upload>,
}

/// A stream of a file's bytes.
pub type Reading = Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send>>;

impl Contents {
    /// Opens the location of the model files. Sends no request to a bucket.
    ///
    /// # Errors
    /// If the folder or the client of the bucket cannot be created.
    pub fn open(data: &Path, home: &Home) -> anyhow::Result<Self> {
        Ok(match home {
            Home::Folder => Self::Folder(Folder::open(data.join(FOLDER))?),
            Home::Bucket(config) => Self::Bucket(Arc::new(Bucket::open(config, data)?)),
        })
    }

    /// Rejects uploads into a folder that would leave fewer than `reserve` bytes free on its disk.
    #[must_use]
    pub fn keeping_free(self, reserve: u64) -> Self {
        match self {
            Self::Folder(folder) => Self::Folder(folder.keeping_free(reserve)),
            Self::Bucket(bucket) => Self::Bucket(bucket),
        }
    }

    /// Deletes the leftovers of earlier uploads in a folder. No upload may be running.
    ///
    /// # Errors
    /// If the folder cannot be listed or a file cannot be deleted.
    pub fn clear_uploads(&self) -> io::Result<()> {
        match self {
            Self::Folder(folder) => folder.clear_uploads(),
            Self::Bucket(_) => Ok(()),
        }
    }

    /// Deletes the leftovers of earlier uploads from a bucket, except those of running uploads. The next call retries
    /// failed deletions.
    pub async fn tidy(&self) {
        match self {
            Self::Folder(_) => {}
            Self::Bucket(bucket) => bucket.tidy().await,
        }
    }

    /// Receives `content` and stores it under a temporary name.
    ///
    /// # Errors
    /// [`ReceiveError`]; nothing of the content is kept.
    pub async fn receive<E>(
        &self,
        announced: &Announced,
        content: impl Stream<Item = Result<Bytes, E>> + Send,
    ) -> Result<Upload, ReceiveError> {
        Ok(match self {
            Self::Folder(folder) => {
                let (received, temporary) = folder.receive(announced.size_bytes, content).await?;
                Upload { received, place: Place::Folder(temporary) }
            }
            Self::Bucket(bucket) => {
                let (received, pending) = bucket.receive(announced, content).await?;
                Upload { received, place: Place::Bucket(pending) }
            }
        })
    }

    /// Tells whether the caller must store the [`Standing`] of an upload of this size. [`Contents::resume`] then
    /// receives the file.
    #[must_use]
    pub fn needs_standing(&self, size_bytes: u64) -> bool {
        matches!(self, Self::Bucket(_)) && bucket::has_parts(size_bytes)
    }

    /// Resumes or starts the upload of a file of `size_bytes` into a bucket. The caller stores each new standing.
    ///
    /// # Errors
    /// [`ReceiveError`]; `Elsewhere` if the store does not have the upload of `standing` any more.
    pub async fn resume<S, E>(
        &self,
        (announced, size_bytes): (&Announced, u64),
        standing: Option<Standing>,
        content: S,
    ) -> Result<Resumed<S>, ReceiveError>
    where
        S: Stream<Item = Result<Bytes, E>> + Send,
    {
        match self {
            Self::Folder(_) => Err(ReceiveError::Elsewhere(0)),
            Self::Bucket(bucket) => bucket.resume((announced, size_bytes), standing, content).await,
        }
    }

    /// Returns the upload if its file is complete.
    ///
    /// # Errors
    /// If the journal of uploads cannot be written.
    pub fn finish<S, E>(&self, resumed: Resumed<S>) -> Result<Option<Upload>, ReceiveError>
    where
        S: Stream<Item = Result<Bytes, E>> + Send,
    {
        let finished = resumed.finish()?;
        Ok(finished.map(|(received, pending)| Upload { received, place: Place::Bucket(pending) }))
    }

    /// Aborts an upload that will not be resumed. Does nothing for a folder, which has no such uploads.
    ///
    /// # Errors
    /// If the store refuses the request or does not answer.
    pub async fn abandon(&self, standing: &Standing) -> Result<(), ContentError> {
        match self {
            Self::Folder(_) => Ok(()),
            Self::Bucket(bucket) => bucket.abandon(standing).await.map_err(ContentError::Bucket),
        }
    }

    /// Resumes the upload of a model's file, of `size_bytes`, at `offset`. A folder keeps the bytes that arrived before
    /// a cut. A bucket receives a small file in one piece.
    ///
    /// # Errors
    /// [`ReceiveError`]; a cut connection is not an error.
    pub async fn go_on<E>(
        &self,
        announced: &Announced,
        (offset, size_bytes): (u64, u64),
        content: impl Stream<Item = Result<Bytes, E>> + Send,
    ) -> Result<Progress, ReceiveError> {
        match self {
            Self::Folder(folder) => {
                let (offset, whole) =
                    folder.go_on(announced, (offset, size_bytes), content).await?;
                let upload =
                    whole.map(|(received, files)| Upload { received, place: Place::Whole(files) });
                Ok(Progress { offset, upload })
            }
            Self::Bucket(_) if offset > 0 => Err(ReceiveError::Elsewhere(0)),
            Self::Bucket(_) => match self.receive(announced, content).await {
                Ok(upload) if upload.received.size_bytes == size_bytes => {
                    Ok(Progress { offset: size_bytes, upload: Some(upload) })
                }
                Ok(upload) => {
                    self.discard(upload).await;
                    Ok(Progress { offset: 0, upload: None })
                }
                Err(ReceiveError::Cut) => Ok(Progress { offset: 0, upload: None }),
                Err(error) => Err(error),
            },
        }
    }

    /// Returns the number of stored bytes of an incomplete model file.
    #[must_use]
    pub fn offset(&self, model: ModelId) -> u64 {
        match self {
            Self::Folder(folder) => folder.partial(model).size_bytes(),
            Self::Bucket(_) => 0,
        }
    }

    /// Deletes an incomplete model file, if there is one.
    ///
    /// # Errors
    /// If the file cannot be deleted.
    pub fn forget_partial(&self, model: ModelId) -> Result<(), ContentError> {
        match self {
            Self::Folder(folder) => folder.partial(model).remove().map_err(ContentError::Folder),
            Self::Bucket(_) => Ok(()),
        }
    }

    /// Lists the models whose files are incomplete.
    ///
    /// # Errors
    /// If the files cannot be listed.
    pub fn partials(&self) -> Result<Vec<ModelId>, ContentError> {
        match self {
            Self::Folder(folder) => folder.partials().map_err(ContentError::Folder),
            Self::Bucket(_) => Ok(Vec::new()),
        }
    }

    /// Gives an upload its final name, as the file of `model`.
    ///
    /// # Errors
    /// If the upload cannot get its final name.
    pub async fn keep(&self, model: ModelId, upload: Upload) -> Result<(), ContentError> {
        let Upload { received, place } = upload;
        match (self, place) {
            (Self::Folder(folder), Place::Folder(temporary)) => {
                let kept = folder.keep(&name(model, &received.sha256), temporary).await;
                kept.map_err(ContentError::Folder)
            }
            (Self::Folder(folder), Place::Whole(files)) => {
                let kept = folder.keep_whole(&name(model, &received.sha256), files).await;
                kept.map_err(ContentError::Folder)
            }
            (Self::Bucket(bucket), Place::Bucket(pending)) => {
                let kept = bucket.keep(&name(model, &received.sha256), &received, pending).await;
                kept.map_err(ContentError::Bucket)
            }
            (
                Self::Folder(_) | Self::Bucket(_),
                Place::Folder(_) | Place::Whole(_) | Place::Bucket(_),
            ) => Err(ContentError::Missing),
        }
    }

    /// Deletes an upload, now or at the next [`Contents::tidy`].
    pub async fn discard(&self, upload: Upload) {
        match upload.place {
            Place::Folder(temporary) => drop(temporary),
            Place::Whole(files) => {
                if let Err(error) = files.remove() {
                    tracing::warn!(%error, "failed to delete a refused upload");
                }
            }
            Place::Bucket(pending) => pending.end().await,
        }
    }

    /// Opens a range of the file of a model.
    ///
    /// # Errors
    /// If the file does not exist or cannot be read.
    pub async fn read(
        &self,
        model: ModelId,
        sha256: &Sha256Hex,
        range: Range<u64>,
    ) -> Result<Reading, ContentError> {
        let name = name(model, sha256);
        match self {
            Self::Folder(folder) => folder.read(&name, range).await.map_err(ContentError::folder),
            Self::Bucket(bucket) => bucket.read(&name, range).await.map_err(ContentError::bucket),
        }
    }

    /// Deletes the file of a model, if it exists. A failed deletion from a bucket is retried later.
    ///
    /// # Errors
    /// If the file cannot be deleted and the deletion will not be retried.
    pub async fn remove(&self, model: ModelId, sha256: &Sha256Hex) -> Result<(), ContentError> {
        let name = name(model, sha256);
        match self {
            Self::Folder(folder) => folder.remove(&name).await.map_err(ContentError::folder),
            Self::Bucket(bucket) => bucket.remove(&name).await.map_err(ContentError::bucket),
        }
    }

    /// Lists the names of the stored files.
    ///
    /// # Errors
    /// If the files cannot be listed.
    pub async fn names(&self) -> Result<BTreeSet<String>, ContentError> {
        match self {
            Self::Folder(folder) => folder.names().map_err(ContentError::folder),
            Self::Bucket(bucket) => bucket.names().await.map_err(ContentError::bucket),
        }
    }

    /// Writes, reads and deletes a test file.
    ///
    /// # Errors
    /// If one of these steps fails.
    pub async fn probe(&self) -> Result<(), ContentError> {
        match self {
            Self::Folder(folder) => folder.probe().map_err(ContentError::Folder),
            Self::Bucket(bucket) => bucket.probe().await.map_err(ContentError::Bucket),
        }
    }
}
