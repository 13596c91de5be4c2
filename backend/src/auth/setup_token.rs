//! The one-time token that creates the first account. A private file holds the token until it is used.

#![expect(clippy::disallowed_methods, reason = "IO shell: the token's file")]

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use link_protocol::secret::Secret;
use subtle::ConstantTimeEq as _;

use crate::host::random;

const FILE: &str = "setup-token";

/// The token of a backend without an account.
#[derive(Debug)]
pub struct SetupToken {
    token: Secret,
}

impl SetupToken {
    /// Returns the token in the folder `data`. The first call creates the token.
    ///
    /// # Errors
    /// If the file of the token can be neither read nor created.
    pub fn open(data: &Path) -> io::Result<Self> {
        let path = Self::file(data);
        match std::fs::read_to_string(&path) {
            Ok(text) if !text.trim().is_empty() => {
                return Ok(Self { token: Secret::new(text.trim()) });
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        let token = random::secret("lst_");
        // The file is private from the start, and is complete or does not exist.
        let mut file = tempfile::NamedTempFile::new_in(data)?;
        writeln!(file, "{}", token.expose())?;
        file.as_file().sync_all()?;
        file.persist(&path).map_err(|error| error.error)?;
        Ok(Self { token })
    }

    /// Returns the path of the token's file in the folder `data`.
    #[must_use]
    pub fn file(data: &Path) -> PathBuf {
        data.join(FILE)
    }

    /// Returns the token, which is shown to the person who starts the backend.
    #[must_use]
    pub const fn token(&self) -> &Secret {
        &self.token
    }

    /// Compares `shown` with the token in constant time.
    #[must_use]
    pub fn is(&self, shown: &Secret) -> bool {
        let [shown, token] = [shown, &self.token].map(|secret| random::digest(secret.expose()));
        bool::from(shown.ct_eq(&token))
    }

    /// Deletes the token's file in the folder `data` after the token was used.
    ///
    /// # Errors
    /// If the file exists and cannot be deleted.
    pub fn remove(data: &Path) -> io::Result<()> {
        match std::fs::remove_file(Self::file(data)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}
