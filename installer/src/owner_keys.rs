//! The keys that the owner of this account has added. This machine trusts an engine index, or the archive of a plugin,
//! that one of these keys signed.
//!
//! The keys for each kind of document are stored in a file that only this user can write, one public key per line. No
//! message from the network adds a key.

use std::path::{Path, PathBuf};

use link_platform::fs::{self, FileError};
use link_protocol::signing::VerifyingKey;

/// The size limit of the file of keys, in bytes.
const LIMIT: u64 = 64 * 1024;

/// A key could not be added or removed.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error("`{}` holds no public key: one is 43 characters of base64url", .0.display())]
    NoKey(PathBuf),
    #[error("no key `{0}` was added here")]
    Unknown(String),
    #[error(transparent)]
    File(#[from] FileError),
}

/// The owner's keys on this machine.
#[derive(Clone, Debug)]
pub struct OwnerKeys {
    path: PathBuf,
}

impl OwnerKeys {
    /// Returns the keys that may sign engine indexes. They are stored in the configuration folder.
    #[must_use]
    pub fn of_engines(configuration: &Path) -> Self {
        Self { path: configuration.join("engine-keys") }
    }

    /// Returns the keys that may sign the archives of plugins. They are stored in the configuration folder.
    #[must_use]
    pub fn of_plugins(configuration: &Path) -> Self {
        Self { path: configuration.join("plugin-keys") }
    }

    /// Returns the keys.
    ///
    /// # Errors
    /// If the file exists but cannot be read, or is malformed.
    pub fn list(&self) -> Result<Vec<VerifyingKey>, KeyError> {
        match fs::read_limited(&self.path, LIMIT) {
            Ok(text) => parse(&text).ok_or_else(|| KeyError::NoKey(self.path.clone())),
            Err(error) if error.is_not_found() => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        }
    }

    /// Adds a public key, or the public keys in a file, and returns what was added.
    ///
    /// # Errors
    /// If `given` is no public key, and the file of that name contains anything else.
    pub fn add(&self, given: &Path) -> Result<Vec<VerifyingKey>, KeyError> {
        let added = match given.to_str().and_then(|text| text.parse().ok()) {
            Some(key) => Some(vec![key]),
            None => parse(&fs::read_plain(given, LIMIT)?).filter(|keys| !keys.is_empty()),
        };
        let added = added.ok_or_else(|| KeyError::NoKey(given.to_owned()))?;
        let mut keys = self.list()?;
        keys.extend(added.iter().filter(|key| !keys.contains(key)).cloned().collect::<Vec<_>>());
        self.write(&keys)?;
        Ok(added)
    }

    /// Removes the key with the id `kid`.
    ///
    /// # Errors
    /// [`KeyError::Unknown`] if no such key exists.
    pub fn remove(&self, kid: &str) -> Result<(), KeyError> {
        let mut keys = self.list()?;
        let before = keys.len();
        keys.retain(|key| key.kid != kid);
        if keys.len() == before {
            return Err(KeyError::Unknown(kid.to_owned()));
        }
        self.write(&keys)
    }

    fn write(&self, keys: &[VerifyingKey]) -> Result<(), KeyError> {
        if let Some(folder) = self.path.parent() {
            fs::create_private_dir(folder)?;
        }
        let lines: String = keys.iter().map(|key| format!("{}\n", key.public_key)).collect();
        Ok(fs::write_private(&self.path, lines.as_bytes())?)
    }
}

fn parse(text: &str) -> Option<Vec<VerifyingKey>> {
    text.split_whitespace().map(|word| word.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use link_protocol::signing::SigningKey;

    use super::*;

    #[test]
    fn a_key_is_added_once_and_removed_by_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let keys = OwnerKeys::of_plugins(&dir.path().join("config"));
        assert_eq!(keys.list().unwrap(), []);
        let one = SigningKey::from_seed(&[1; 32]).verifying().clone();
        let file = dir.path().join("key.pub");
        fs::write_atomic(&file, format!("{}\n", one.public_key).as_bytes()).unwrap();
        for given in [&file, Path::new(&one.public_key)] {
            assert_eq!(keys.add(given).unwrap(), std::slice::from_ref(&one));
            assert_eq!(keys.list().unwrap(), std::slice::from_ref(&one));
        }
        for bad in ["", "no key", "-----BEGIN PUBLIC KEY-----"] {
            fs::write_atomic(&file, bad.as_bytes()).unwrap();
            assert!(matches!(keys.add(&file), Err(KeyError::NoKey(_))), "{bad}");
        }
        assert!(matches!(keys.remove("0"), Err(KeyError::Unknown(_))));
        assert_eq!(OwnerKeys::of_engines(&dir.path().join("config")).list().unwrap(), []);
        keys.remove(&one.kid).unwrap();
        assert_eq!(keys.list().unwrap(), []);
    }
}
