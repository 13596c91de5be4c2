//! Text files that contain a path: creating symbolic links needs a privilege that users do not
//! have.

use std::{
    io,
    path::{Path, PathBuf},
};

use crate::fs;

pub(super) fn read(pointer: &Path) -> Option<PathBuf> {
    fs::read_to_string(pointer).ok().map(|text| text.trim().into())
}

pub(super) fn follow(pointer: &Path) -> PathBuf {
    if pointer.is_dir() {
        pointer.to_owned()
    } else {
        read(pointer).unwrap_or_else(|| pointer.to_owned())
    }
}

pub(super) fn replace(pointer: &Path, target: &Path) -> io::Result<()> {
    let text = target.to_str().ok_or(io::ErrorKind::InvalidInput)?;
    fs::write_atomic(pointer, text.as_bytes()).map_err(io::Error::other)
}
