//! The file that stores a login between commands. Only its owner can read it.
//!
//! Every change holds a lock file, because a refresh token can be used only once.

use std::path::PathBuf;

use link_client::backend::{StoreError, TokenStore, Tokens};
use link_platform::{fs, paths::Roots};
use link_protocol::{exit_code::ExitCode, secret::Secret};
use serde::{Deserialize, Serialize};

use crate::{
    error::{CliError, chain},
    error_code::ErrorCode,
};

/// A login.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct Credentials {
    pub(crate) backend_url: String,
    pub(crate) email: String,
    pub(crate) access_token: Secret,
    pub(crate) refresh_token: Option<Secret>,
}

impl Credentials {
    fn to_text(&self) -> String {
        let text = serde_json::to_string_pretty(self).expect("a login has only string keys");
        format!("{text}\n")
    }
}

/// The file of the stored login.
#[derive(Clone, Debug)]
pub(crate) struct CredentialsFile {
    path: PathBuf,
}

impl CredentialsFile {
    /// Returns the file of this user.
    pub(crate) fn of(roots: &Roots) -> Self {
        Self { path: roots.config.join("credentials.json") }
    }

    /// Returns the stored login. None if there is none.
    ///
    /// # Errors
    /// If the file cannot be read or is damaged.
    pub(crate) fn read(&self) -> Result<Option<Credentials>, CliError> {
        let text = match fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(CliError::file(&error)),
        };
        serde_json::from_str(&text).map(Some).map_err(|error| {
            // The parser's message may quote the secret, so only the position is shown.
            let place = format!("line {}, column {}", error.line(), error.column());
            let message = format!("`{}` is damaged at {place}", self.path.display());
            CliError::new(ExitCode::CannotWrite, ErrorCode::File, message)
                .hint("log in again with `link login`")
        })
    }

    /// Stores the login.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn write(&self, credentials: &Credentials) -> Result<(), CliError> {
        self.try_write(credentials).map_err(|error| CliError::file(&error))
    }

    /// Deletes the login.
    ///
    /// # Errors
    /// If the file cannot be deleted.
    pub(crate) fn remove(&self) -> Result<(), CliError> {
        fs::remove_file(&self.path).map_err(|error| CliError::file(&error))
    }

    fn try_write(&self, credentials: &Credentials) -> Result<(), fs::FileError> {
        if let Some(folder) = self.path.parent() {
            fs::create_private_dir(folder)?;
        }
        fs::write_private(&self.path, credentials.to_text().as_bytes())
    }
}

impl TokenStore for CredentialsFile {
    fn load(&self) -> Result<Option<Tokens>, StoreError> {
        let kept = self.read().map_err(|error| StoreError(error.message))?;
        Ok(kept.map(|kept| Tokens { access: kept.access_token, refresh: kept.refresh_token }))
    }

    fn save(&self, tokens: &Tokens) -> Result<(), StoreError> {
        let kept = self.read().map_err(|error| StoreError(error.message))?;
        let Some(kept) = kept else { return Ok(()) };
        let renewed = Credentials {
            access_token: tokens.access.clone(),
            refresh_token: tokens.refresh.clone(),
            ..kept
        };
        self.try_write(&renewed).map_err(|error| StoreError(chain(&error)))
    }

    fn try_lock(&self) -> Result<Option<Box<dyn Send>>, StoreError> {
        let lock = fs::try_lock(&self.path.with_extension("lock"));
        let lock = lock.map_err(|error| StoreError(chain(&error)))?;
        Ok(lock.map(|lock| Box::new(lock) as Box<dyn Send>))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renewed_tokens_replace_the_old_ones_and_keep_the_rest() {
        let dir = tempfile::tempdir().unwrap();
        let file = CredentialsFile { path: dir.path().join("new").join("credentials.json") };
        assert_eq!(file.read(), Ok(None));
        let login = Credentials {
            backend_url: "http://b".into(),
            email: "a@b.c".into(),
            access_token: Secret::new("a1"),
            refresh_token: Some(Secret::new("r1")),
        };
        file.write(&login).unwrap();
        let tokens = Tokens { access: Secret::new("a2"), refresh: Some(Secret::new("r2")) };
        file.save(&tokens).unwrap();
        assert_eq!(file.load().unwrap(), Some(tokens));
        assert_eq!(file.read().unwrap().unwrap().email, "a@b.c");
        file.remove().unwrap();
        assert_eq!(file.load().unwrap(), None);
    }

    #[test]
    fn a_damaged_file_is_not_quoted() {
        let dir = tempfile::tempdir().unwrap();
        let file = CredentialsFile { path: dir.path().join("credentials.json") };
        fs::write_private(&file.path, br#"{"access_token": canary}"#).unwrap();
        let error = file.read().unwrap_err();
        assert!(error.message.contains("damaged at line 1") && !error.message.contains("canary"));
    }
}
