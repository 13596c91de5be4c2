//! The file of a key that signs what is published: releases, indexes, catalogues and plugins. Only its owner can read it.

use std::path::{Path, PathBuf};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use link_platform::fs::{self, FileError};
use link_protocol::signing::{SigningKey, VerifyingKey};
use ring::rand::{SecureRandom as _, SystemRandom};

/// The size limit of the file, in bytes.
const LIMIT: u64 = 1024;

/// The file of a key cannot be made or used.
#[derive(Debug, thiserror::Error)]
pub enum KeyFileError {
    #[error("`{}` already exists", .0.display())]
    Exists(PathBuf),
    #[error("the system provides no random bytes")]
    NoRandomness,
    #[error("`{}` holds no key that signs", .0.display())]
    NoKey(PathBuf),
    #[error("other users can read `{}`", .0.display())]
    Open(PathBuf),
    #[error(transparent)]
    File(#[from] FileError),
}

/// A key that was not written yet.
pub struct NewKey {
    file: PathBuf,
    seed: [u8; 32],
    /// The public half.
    pub public: VerifyingKey,
}

impl NewKey {
    /// Draws a key for `file`, which must not exist: a key is never replaced.
    ///
    /// # Errors
    /// [`KeyFileError::Exists`], or [`KeyFileError::NoRandomness`].
    pub fn draw(file: &Path) -> Result<Self, KeyFileError> {
        if file.symlink_metadata().is_ok() {
            return Err(KeyFileError::Exists(file.to_owned()));
        }
        loop {
            let mut seed = [0; 32];
            SystemRandom::new().fill(&mut seed).map_err(|_| KeyFileError::NoRandomness)?;
            let public = SigningKey::from_seed(&seed).verifying().clone();
            // A public key that begins with a dash reads like an option on a command line.
            if !public.public_key.starts_with('-') {
                return Ok(Self { file: file.to_owned(), seed, public });
            }
        }
    }

    /// Writes the file, which only this user can read.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self) -> Result<(), FileError> {
        let text = format!("{}\n", URL_SAFE_NO_PAD.encode(self.seed));
        fs::write_private(&self.file, text.as_bytes())
    }
}

/// Reads the key in `file`.
///
/// # Errors
/// [`KeyFileError`] if the file holds anything else, or if other users can read it.
pub fn read(file: &Path) -> Result<SigningKey, KeyFileError> {
    let text = fs::read_plain(file, LIMIT)?;
    if fs::is_open_to_others(file) {
        return Err(KeyFileError::Open(file.to_owned()));
    }
    let seed = URL_SAFE_NO_PAD.decode(text.trim()).ok().and_then(|seed| seed.try_into().ok());
    let seed = seed.ok_or_else(|| KeyFileError::NoKey(file.to_owned()))?;
    Ok(SigningKey::from_seed(&seed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once_read_again_and_kept_to_its_owner() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("key");
        let key = NewKey::draw(&file).unwrap();
        assert!(!file.exists());
        key.write().unwrap();
        assert_eq!(read(&file).unwrap().verifying(), &key.public);
        assert!(matches!(NewKey::draw(&file), Err(KeyFileError::Exists(_))));
        fs::write_atomic(&file, b"no key").unwrap();
        assert!(matches!(read(&file), Err(KeyFileError::Open(_) | KeyFileError::NoKey(_))));
        fs::write_private(&file, b"no key").unwrap();
        assert!(matches!(read(&file), Err(KeyFileError::NoKey(_))));
    }
}
