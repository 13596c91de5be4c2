//! Snapshots of folders, to compare their contents before and after an action.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// Returns every path below `folders`, with the contents of the files.
///
/// # Panics
/// Panics if a folder cannot be read.
#[must_use]
pub fn of(folders: &[&Path]) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut tree = BTreeMap::new();
    let mut open: Vec<_> = folders.iter().map(|folder| folder.to_path_buf()).collect();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let metadata = std::fs::symlink_metadata(&path).unwrap();
            if metadata.is_dir() {
                open.push(path.clone());
            }
            let holds = if metadata.is_file() { std::fs::read(&path).unwrap() } else { vec![] };
            tree.insert(path, holds);
        }
    }
    tree
}
