//! The files of a signed release of the programs under test.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use super::scratch::run;

/// The archive for devices in a release folder.
pub(super) fn archive(release: &Path) -> PathBuf {
    find_archive(release, false)
}

/// The archive for backends in a release folder.
pub(super) fn backend_archive(release: &Path) -> PathBuf {
    find_archive(release, true)
}

fn find_archive(release: &Path, is_of_backend: bool) -> PathBuf {
    let mut entries = std::fs::read_dir(release).unwrap().map(|entry| entry.unwrap().path());
    let is_it = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.ends_with(".tar.gz") && name.ends_with("-backend.tar.gz") == is_of_backend
    };
    entries.find(is_it).unwrap()
}

/// Writes the checksums of the files in a release folder.
pub(super) fn sum_up(release: &Path) {
    let line = "cd \"$0\" && sha256sum *.gz install.sh >SHA256SUMS";
    let ran = run(Command::new("sh").args(["-c", line]).arg(release));
    assert_eq!(ran.code, Some(0), "{ran:?}");
}
