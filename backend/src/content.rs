//! Model files: received as a stream, kept only when they are what was announced.
//!
//! They have one of two homes, a folder or a bucket of a store that speaks S3, which behave the
//! same: a file has its name only when it is whole, a crash or a cut leaves nothing that could be
//! taken for a model, and what was left by one is deleted later.

mod announced;
mod bucket;
mod fault;
mod folder;
mod partial;
mod parts;

pub use announced::Announced;
pub use bucket::{Addressing, BucketConfig, InvalidBucket};
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

/// Where model files are kept.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Home {
    /// The folder of models in the data folder.
    #[default]
    Folder,
    Bucket(Box<BucketConfig>),
}

/// The model files of a backend.
#[derive(Clone, Debug)]
pub enum Contents {
    Folder(Folder),
    Bucket(Arc<Bucket>),
}

/// A file that was received and is not kept yet. Dropping it deletes it, unless it came in part: then it
/// can be gone on with.
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

/// How far a file is that comes in part.
#[derive(Debug)]
pub struct Progress {
    pub offset: u64,
    /// The file, once it is whole.
    pub upload: Option<Upload>,
}

/// The bytes of a file.
pub type Reading = Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send>>;

impl Contents {
    /// Opens the home of the model files of a data folder. A bucket is not asked anything.
    ///
    /// # Errors
    /// When a folder cannot be made, or no requests to the bucket can be.
    pub fn open(data: &Path, home: &Home) -> anyhow::Result<Self> {
        Ok(match home {
            Home::Folder => Self::Folder(Folder::open(data.join(FOLDER))?),
            Home::Bucket(config) => Self::Bucket(Arc::new(Bucket::open(config, data)?)),
        })
    }

    /// Refuses uploads into a folder that would leave fewer than `reserve` bytes on its disk.
    #[must_use]
    pub fn keeping_free(self, reserve: u64) -> Self {
        match self {
            Self::Folder(folder) => Self::Folder(folder.keeping_free(reserve)),
            Self::Bucket(bucket) => Self::Bucket(bucket),
        }
    }

    /// Deletes what earlier uploads left in a folder when the backend was killed; none may run.
    ///
    /// # Errors
    /// When the folder cannot be listed or a file not deleted.
    pub fn clear_uploads(&self) -> io::Result<()> {
        match self {
            Self::Folder(folder) => folder.clear_uploads(),
            Self::Bucket(_) => Ok(()),
        }
    }

    /// Deletes what could not be deleted from a bucket before, or was left there by a backend that
    /// was killed; uploads that run are left alone. What fails again is tried the next time.
    pub async fn tidy(&self) {
        match self {
            Self::Folder(_) => {}
            Self::Bucket(bucket) => bucket.tidy().await,
        }
    }

    /// Takes `content` to where it can be kept from.
    ///
    /// # Errors
    /// [`ReceiveError`]; nothing is left then.
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

    /// Goes on with the file of a model, of `size_bytes`, from `offset`. What came before a cut is kept in
    /// a folder; a bucket takes a file only in one piece.
    ///
    /// # Errors
    /// [`ReceiveError`]; a cut is none.
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

    /// Returns how many bytes of a model's file came and are kept, while it is not whole.
    #[must_use]
    pub fn offset(&self, model: ModelId) -> u64 {
        match self {
            Self::Folder(folder) => folder.partial(model).size_bytes(),
            Self::Bucket(_) => 0,
        }
    }

    /// Deletes what came of a model's file, if anything is there.
    ///
    /// # Errors
    /// When it cannot be deleted.
    pub fn forget_partial(&self, model: ModelId) -> Result<(), ContentError> {
        match self {
            Self::Folder(folder) => folder.partial(model).remove().map_err(ContentError::Folder),
            Self::Bucket(_) => Ok(()),
        }
    }

    /// Lists the models of which a file came in part.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub fn partials(&self) -> Result<Vec<ModelId>, ContentError> {
        match self {
            Self::Folder(folder) => folder.partials().map_err(ContentError::Folder),
            Self::Bucket(_) => Ok(Vec::new()),
        }
    }

    /// Keeps an upload as the file of `model`.
    ///
    /// # Errors
    /// When it cannot get its name.
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

    /// Deletes an upload. What is not deleted when this returns is deleted later.
    pub async fn discard(&self, upload: Upload) {
        match upload.place {
            Place::Folder(temporary) => drop(temporary),
            Place::Whole(files) => {
                if let Err(error) = files.remove() {
                    tracing::warn!(%error, "an upload that was refused stays for now");
                }
            }
            Place::Bucket(pending) => pending.end().await,
        }
    }

    /// Opens a part of the file of a model.
    ///
    /// # Errors
    /// When it is not there or cannot be read.
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

    /// Deletes the file of a model, if there is one; from a bucket later, when it cannot be now.
    ///
    /// # Errors
    /// When it is there, cannot be deleted, and nobody will try again.
    pub async fn remove(&self, model: ModelId, sha256: &Sha256Hex) -> Result<(), ContentError> {
        let name = name(model, sha256);
        match self {
            Self::Folder(folder) => folder.remove(&name).await.map_err(ContentError::folder),
            Self::Bucket(bucket) => bucket.remove(&name).await.map_err(ContentError::bucket),
        }
    }

    /// Lists the names of the files that are kept.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub async fn names(&self) -> Result<BTreeSet<String>, ContentError> {
        match self {
            Self::Folder(folder) => folder.names().map_err(ContentError::folder),
            Self::Bucket(bucket) => bucket.names().await.map_err(ContentError::bucket),
        }
    }

    /// Writes a file, reads it and deletes it again.
    ///
    /// # Errors
    /// When one of these cannot be done.
    pub async fn probe(&self) -> Result<(), ContentError> {
        match self {
            Self::Folder(folder) => folder.probe().map_err(ContentError::Folder),
            Self::Bucket(bucket) => bucket.probe().await.map_err(ContentError::Bucket),
        }
    }
}
