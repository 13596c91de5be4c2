//! The result of a command: an exit code, and a message if the code is not 0.

use std::io::{self, Write as _};

use link_backend::{
    config::{fault::Unusable, load::LoadError},
    failure::AppError,
};
use link_platform::fs::FileError;
use link_protocol::{error_chain::chain, exit_code::ExitCode};
use serde_json::json;

/// The result of a command.
pub(crate) type Ended = Result<ExitCode, Refused>;

/// A command failed.
#[derive(Debug)]
pub(crate) struct Refused {
    code: ExitCode,
    cause: anyhow::Error,
}

impl Refused {
    pub(crate) fn new(code: ExitCode, cause: impl Into<anyhow::Error>) -> Self {
        Self { code, cause: cause.into() }
    }

    /// Returns a failure with exit code 1.
    pub(crate) fn failed(cause: impl Into<anyhow::Error>) -> Self {
        Self::new(ExitCode::Failed, cause)
    }

    /// Returns a failure for a request that cannot be fulfilled.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(ExitCode::Usage, anyhow::Error::msg(message.into()))
    }

    /// Prints the reason on standard error and returns the exit code.
    pub(crate) fn tell(&self, json: bool) -> ExitCode {
        let said = chain(self.cause.as_ref());
        let text = if json {
            json!({ "error": said, "exit_code": self.code.number() }).to_string()
        } else {
            format!("link-backend: {said}")
        };
        // If standard error is closed, nothing can be printed.
        writeln!(io::stderr(), "{text}").unwrap_or(());
        self.code
    }
}

impl From<anyhow::Error> for Refused {
    fn from(error: anyhow::Error) -> Self {
        let full = error.chain().any(|cause| {
            let io = cause.downcast_ref::<io::Error>().map(io::Error::kind);
            io == Some(io::ErrorKind::StorageFull)
        });
        let written = error.chain().any(|cause| cause.is::<io::Error>());
        let code = match (full, written) {
            (true, _) => ExitCode::NoSpace,
            (false, true) => ExitCode::CannotWrite,
            (false, false) => ExitCode::Failed,
        };
        Self::new(code, error)
    }
}

impl From<LoadError> for Refused {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Unusable(faults) => faults.into(),
            error @ LoadError::Read(_) => Self::new(ExitCode::CannotWrite, error),
        }
    }
}

impl From<Unusable> for Refused {
    fn from(faults: Unusable) -> Self {
        Self::new(ExitCode::Usage, faults)
    }
}

impl From<FileError> for Refused {
    fn from(error: FileError) -> Self {
        let code = if error.is_disk_full() { ExitCode::NoSpace } else { ExitCode::CannotWrite };
        Self::new(code, error)
    }
}

impl From<AppError> for Refused {
    fn from(failure: AppError) -> Self {
        let code = match &failure {
            AppError::Refused(_) => ExitCode::Refused,
            AppError::Store(_) | AppError::Content(_) | AppError::Broken(..) => ExitCode::Failed,
        };
        Self::new(code, failure)
    }
}

/// Prints `text` and a line break on standard output.
pub(crate) fn print(text: &str) -> Result<(), Refused> {
    match writeln!(io::stdout(), "{}", text.trim_end()) {
        // The reader of the pipe has gone.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        printed => printed.map_err(|error| Refused::new(ExitCode::CannotWrite, error)),
    }
}
