//! Packs the folder of a build.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "IO shell: reads the folder of a build and writes its archive"
)]

use std::{
    fs::File,
    io::Write as _,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use flate2::{Compression, GzBuilder, write::GzEncoder};
use link_platform::fs;

/// The deepest folder that is packed.
const DEPTH: usize = 4;

/// Packs the files and links of a folder and of the folders in it, and returns their size in bytes.
pub(super) fn pack(folder: &Path, to: &Path) -> anyhow::Result<u64> {
    let staged = beside(to);
    let writer = File::create(&staged)?;
    let mut tar = tar::Builder::new(GzBuilder::new().mtime(0).write(writer, Compression::fast()));
    tar.follow_symlinks(false);
    let bytes = append(&mut tar, folder, Path::new(""), DEPTH)?;
    let mut compressed = tar.into_inner()?.finish()?;
    compressed.flush()?;
    fs::rename(&staged, to)?;
    Ok(bytes)
}

fn append(
    tar: &mut tar::Builder<GzEncoder<File>>,
    folder: &Path,
    inside: &Path,
    depth: usize,
) -> anyhow::Result<u64> {
    let mut entries: Vec<_> = std::fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<_>>()?;
    entries.sort();
    let mut bytes = 0;
    for path in entries {
        let metadata = std::fs::symlink_metadata(&path)?;
        let name = inside.join(path.file_name().context("an entry of a folder has a name")?);
        if metadata.is_dir() {
            let below = depth.checked_sub(1);
            let below = below.with_context(|| format!("`{}` is too deep", path.display()))?;
            bytes += append(tar, &path, &name, below)?;
        } else if metadata.is_file() || metadata.is_symlink() {
            bytes += metadata.len();
            tar.append_path_with_name(&path, name)?;
        }
    }
    Ok(bytes)
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    name.into()
}
