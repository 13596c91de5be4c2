//! The files of a plugin's folder, within the bounds of every plugin.

use std::{
    io,
    path::{Path, PathBuf},
};

use link_protocol::limits::{PLUGIN_FILES, PLUGIN_SIZE};

use super::ORIGIN;

/// The files of a folder are not those of a plugin.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    #[error("`{}` is not a regular file; a plugin has no links, no folders and no devices", .0.display())]
    NotPlain(PathBuf),
    #[error("the plugin has more than {PLUGIN_FILES} files or {PLUGIN_SIZE} bytes")]
    TooLarge,
    #[error("failed to read `{}`", .path.display())]
    Read { path: PathBuf, source: io::Error },
}

/// Returns the regular files of a plugin's folder, without the record of an earlier installation.
///
/// # Errors
/// [`FilesError`] if there is anything else in it.
pub(super) fn plain_files(folder: &Path) -> Result<Vec<PathBuf>, FilesError> {
    let failed = |path: &Path, source| FilesError::Read { path: path.to_owned(), source };
    let entries = std::fs::read_dir(folder).map_err(|source| failed(folder, source))?;
    let (mut files, mut bytes) = (Vec::new(), 0_u64);
    for entry in entries {
        let path = entry.map_err(|source| failed(folder, source))?.path();
        let found = std::fs::symlink_metadata(&path).map_err(|source| failed(&path, source))?;
        if !found.is_file() {
            return Err(FilesError::NotPlain(path));
        }
        if path.ends_with(ORIGIN) {
            continue;
        }
        bytes = bytes.saturating_add(found.len());
        if files.len() == PLUGIN_FILES || bytes > PLUGIN_SIZE {
            return Err(FilesError::TooLarge);
        }
        files.push(path);
    }
    Ok(files)
}
