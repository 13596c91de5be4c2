//! Errors of the storage for model files, and of receiving a file.

use std::io;

use link_platform::fs::FileError;

/// The storage for model files failed.
#[derive(Debug, thiserror::Error)]
pub enum ContentError {
    #[error("the file of the model does not exist")]
    Missing,
    /// The folder cannot be read or written.
    #[error("failed to use the folder of models")]
    Folder(#[source] io::Error),
    /// The bucket's store refused or did not answer.
    #[error("failed to use the bucket of models")]
    Bucket(#[source] BucketFault),
}

/// A file was not received.
#[derive(Debug, thiserror::Error)]
pub enum ReceiveError {
    /// The sender's connection ended early.
    #[error("the content ended early")]
    Cut,
    /// The sender was slower than the minimum rate.
    #[error("the content comes too slowly")]
    Slow,
    /// The file is larger than the limit for models.
    #[error("the content is too large")]
    TooLarge,
    /// The limit of concurrent uploads is reached.
    #[error("too many uploads are in progress")]
    Busy,
    /// The file would use disk space from the reserve.
    #[error("the disk has no room for the content")]
    NoRoom,
    /// The upload must resume at this other offset.
    #[error("the upload resumes at byte {0}")]
    Elsewhere(u64),
    /// The storage for model files could not store the file.
    #[error("failed to write the content")]
    Home(#[source] ContentError),
}

/// A request to the store failed.
#[derive(Debug, thiserror::Error)]
pub enum BucketFault {
    /// The store cannot be reached, timed out, or closed the connection.
    #[error("the store does not answer")]
    Unreachable(#[source] Option<reqwest::Error>),
    /// The store refused the request.
    #[error("the store answers {status} {code}: {message}")]
    Refused {
        status: u16,
        /// An error code of S3, or empty.
        code: String,
        message: String,
    },
    /// The store's answer is not valid S3.
    #[error("the store's answer is not understood: {0}")]
    Garbled(&'static str),
    /// The journal of uploads could not be written.
    #[error("failed to write the journal of uploads")]
    Journal(#[source] FileError),
}

impl BucketFault {
    /// Tells whether a retry, now or later, may succeed.
    #[must_use]
    pub fn is_silence(&self) -> bool {
        match self {
            Self::Unreachable(_) => true,
            Self::Refused { status, .. } => *status == 429 || *status >= 500,
            Self::Garbled(_) | Self::Journal(_) => false,
        }
    }

    /// Tells whether the object does not exist. The bucket may still exist.
    #[must_use]
    pub fn is_missing_object(&self) -> bool {
        matches!(self, Self::Refused { status: 404, code, .. } if code == "NoSuchKey")
    }

    /// Returns the error with its causes, for a log.
    #[must_use]
    pub fn said(&self) -> String {
        match self {
            Self::Unreachable(Some(cause)) => {
                let mut said = format!("{self}: {cause}");
                let mut cause = std::error::Error::source(cause);
                while let Some(error) = cause {
                    said.push_str(&format!(": {error}"));
                    cause = error.source();
                }
                said
            }
            Self::Journal(cause) => format!("{self}: {cause}"),
            Self::Unreachable(None) | Self::Refused { .. } | Self::Garbled(_) => self.to_string(),
        }
    }

    pub(super) fn missing_object() -> Self {
        let message = "there is no such object".to_owned();
        Self::Refused { status: 404, code: "NoSuchKey".to_owned(), message }
    }

    pub(super) fn unreachable(error: reqwest::Error) -> Self {
        Self::Unreachable(Some(error.without_url()))
    }

    pub(super) fn is_not_found(&self) -> bool {
        matches!(self, Self::Refused { status: 404, .. })
    }
}

impl ContentError {
    /// Tells whether the disk is full.
    #[must_use]
    pub fn is_no_room(&self) -> bool {
        match self {
            Self::Folder(error) => is_full(error),
            Self::Missing | Self::Bucket(_) => false,
        }
    }

    pub(super) fn folder(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::NotFound { Self::Missing } else { Self::Folder(error) }
    }

    pub(super) fn bucket(fault: BucketFault) -> Self {
        if fault.is_missing_object() { Self::Missing } else { Self::Bucket(fault) }
    }
}

/// Tells whether `error` means a full disk or an exceeded quota.
pub(super) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}
