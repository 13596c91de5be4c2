//! Reads the state files of an installation. A missing file counts as empty. A damaged file is an error: if it counted
//! as empty, the next write would lose its contents.

#![expect(clippy::disallowed_methods, reason = "IO shell: reads files of the installation")]

use std::{
    io,
    path::{Path, PathBuf},
};

use serde::de::DeserializeOwned;

/// A state file of the installation cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// The file is malformed.
    #[error("`{}` is damaged; {next_step}", path.display())]
    Damaged {
        path: PathBuf,
        next_step: &'static str,
        #[source]
        source: serde_json::Error,
    },
    #[error("failed to read `{}`", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// Reads the file at `path`. None if it does not exist. `next_step` says how to recover from a damaged file.
pub(crate) fn read<T: DeserializeOwned>(
    path: &Path,
    next_step: &'static str,
) -> Result<Option<T>, StateError> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(StateError::Read { path: path.to_owned(), source }),
    };
    serde_json::from_slice(&bytes).map(Some).map_err(|source| StateError::Damaged {
        path: path.to_owned(),
        next_step,
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{decide::update::UpdateState, receipt::Receipt};

    #[test]
    fn a_missing_file_says_nothing_and_a_damaged_one_is_named_with_what_helps() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("receipt.json");
        assert!(read::<Receipt>(&path, "do").unwrap().is_none());
        for damaged in [b"".as_slice(), b"{", b"\xff\xfe", b"[]", b"{\"versions\": 7}"] {
            std::fs::write(&path, damaged).unwrap();
            let error = read::<Receipt>(&path, "repair it").unwrap_err();
            let said = error.to_string();
            assert!(said.contains("receipt.json` is damaged; repair it"), "{said}");
        }
        let state = UpdateState::default();
        std::fs::write(&path, state.to_text()).unwrap();
        assert_eq!(read::<UpdateState>(&path, "do").unwrap(), Some(state));
        // A file that cannot be read does not count as damaged, so that nothing overwrites it.
        assert!(matches!(read::<Receipt>(dir.path(), "do"), Err(StateError::Read { .. })));
    }
}
