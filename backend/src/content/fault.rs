//! Why a home of model files failed, and why a file was not received.

use std::io;

use link_platform::fs::FileError;

/// The home could not do what it should.
#[derive(Debug, thiserror::Error)]
pub enum ContentError {
    #[error("the file of the model is not there")]
    Missing,
    /// The folder cannot be read or written.
    #[error("failed to use the folder of models")]
    Folder(#[source] io::Error),
    /// What the bucket's store did, or that it did nothing.
    #[error("failed to use the bucket of models")]
    Bucket(#[source] BucketFault),
}

/// A file could not be received.
#[derive(Debug, thiserror::Error)]
pub enum ReceiveError {
    /// The sender broke off.
    #[error("the content ended early")]
    Cut,
    /// The sender sends next to nothing.
    #[error("the content comes too slowly")]
    Slow,
    /// It is larger than any model may be.
    #[error("the content is too large")]
    TooLarge,
    /// As many others as there may be are being received.
    #[error("too many files are received at once")]
    Busy,
    /// The disk would have less room left than is kept free.
    #[error("there is no room for the content")]
    NoRoom,
    /// It is gone on with elsewhere: behind so many bytes.
    #[error("the upload goes on behind {0} bytes")]
    Elsewhere(u64),
    /// It could not be put down.
    #[error("failed to write the content")]
    Home(#[source] ContentError),
}

/// The store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum BucketFault {
    /// It cannot be reached, takes too long, or breaks off.
    #[error("the store does not answer")]
    Unreachable(#[source] Option<reqwest::Error>),
    /// It says no.
    #[error("the store answers {status} {code}: {message}")]
    Refused {
        status: u16,
        /// One of S3's, or nothing.
        code: String,
        message: String,
    },
    /// It says something else than S3 does.
    #[error("the store's answer is not understood: {0}")]
    Garbled(&'static str),
    /// What was begun there could not be written down here.
    #[error("failed to write the journal of uploads")]
    Journal(#[source] FileError),
}

impl BucketFault {
    /// Tells whether the store may answer when it is asked again, now or later.
    #[must_use]
    pub fn is_silence(&self) -> bool {
        match self {
            Self::Unreachable(_) => true,
            Self::Refused { status, .. } => *status == 429 || *status >= 500,
            Self::Garbled(_) | Self::Journal(_) => false,
        }
    }

    /// Tells whether there is no such object; the bucket itself may be there.
    #[must_use]
    pub fn is_missing_object(&self) -> bool {
        matches!(self, Self::Refused { status: 404, code, .. } if code == "NoSuchKey")
    }

    /// Returns it with its causes, for a log.
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

/// Tells whether `error` says that there is no room.
pub(super) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}
