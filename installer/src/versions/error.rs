//! The errors of changes to the files of an installation.

use std::{
    io,
    path::{Path, PathBuf},
};

use link_platform::fs::FileError;
use link_protocol::exit_code::ExitCode;

use crate::state_file::StateError;

/// The files of an installation could not be changed.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// Another installer works on the same folders.
    #[error("another installation is running")]
    Busy,
    /// A program differs from the one that was verified.
    #[error("`{}` changed while it was installed", .0.display())]
    Changed(PathBuf),
    /// A state file of the installation cannot be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// A file or folder could not be read or written.
    #[error("failed to {action} `{}`", path.display())]
    Io {
        action: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// A state file could not be written.
    #[error(transparent)]
    File(#[from] FileError),
}

impl ChangeError {
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { action, path: path.to_owned(), source }
    }

    /// Returns the exit code of a command that fails with this error.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Busy => ExitCode::Busy,
            Self::Changed(_) => ExitCode::ChecksumMismatch,
            full if full.is_disk_full() => ExitCode::NoSpace,
            Self::State(_) | Self::Io { .. } | Self::File(_) => ExitCode::CannotWrite,
        }
    }

    /// Returns whether the disk is full.
    #[must_use]
    pub fn is_disk_full(&self) -> bool {
        match self {
            Self::Io { source, .. } | Self::State(StateError::Read { source, .. }) => {
                matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
            }
            Self::File(error) => error.is_disk_full(),
            Self::Busy | Self::Changed(_) | Self::State(StateError::Damaged { .. }) => false,
        }
    }
}
