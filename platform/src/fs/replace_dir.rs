//! A folder that takes the place of another one.

use std::{ffi::OsString, io, path::Path};

use super::{FileError, create_private_dir, remove_dir, rename};

/// Replaces the folder `to`, if there is one, with the folder `from`, and keeps the replaced one as `before`. All three have the
/// same parent, and `before` must not exist. Where a running program in it keeps a folder from being moved, its files are replaced
/// one after the other; a call that was interrupted is then repeated from the beginning, with another `from`.
///
/// # Errors
/// If a folder or a file cannot be moved.
pub fn replace_dir(from: &Path, to: &Path, before: &Path) -> Result<(), FileError> {
    if to.exists() {
        match rename(to, before) {
            Err(error) if error.is_held() => return replace_files(from, to, before),
            moved => moved?,
        }
    }
    rename(from, to)
}

/// Removes the folder that [`replace_dir`] has kept. Windows deletes no program that runs: then it stays, until a later call finds
/// that the program has ended.
///
/// # Errors
/// If something else in the folder cannot be removed.
pub fn remove_replaced(before: &Path) -> Result<(), FileError> {
    match remove_dir(before) {
        Err(error) if error.is_held() => Ok(()),
        removed => removed,
    }
}

/// Moves each file of `to` into `before`, and each file of `from` into `to`.
fn replace_files(from: &Path, to: &Path, before: &Path) -> Result<(), FileError> {
    create_private_dir(before)?;
    for (source, target) in [(to, before), (from, to)] {
        for name in names(source)? {
            rename(&source.join(&name), &target.join(&name))?;
        }
    }
    remove_dir(from)
}

/// Returns the names of what is in a folder.
fn names(folder: &Path) -> Result<Vec<OsString>, FileError> {
    let entries = std::fs::read_dir(folder).and_then(|entries| {
        entries.map(|entry| entry.map(|entry| entry.file_name())).collect::<io::Result<_>>()
    });
    entries.map_err(|source| FileError { action: "read", path: folder.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_replaced_whole_or_file_by_file() {
        for replace in [replace_dir, replace_files] {
            let dir = tempfile::tempdir().unwrap();
            let [new, folder, old] = ["new", "folder", "old"].map(|name| dir.path().join(name));
            for (place, file) in [(&new, "a"), (&new, "b"), (&folder, "b"), (&folder, "c")] {
                std::fs::create_dir_all(place).unwrap();
                std::fs::write(place.join(file), place.to_str().unwrap()).unwrap();
            }
            replace(&new, &folder, &old).unwrap();
            let mut found = [names(&folder).unwrap(), names(&old).unwrap()];
            found.iter_mut().for_each(|names| names.sort());
            assert_eq!(found, [["a", "b"], ["b", "c"]]);
            assert_eq!(std::fs::read_to_string(folder.join("b")).unwrap(), new.to_str().unwrap());
            assert!(!new.exists());
        }
    }
}
