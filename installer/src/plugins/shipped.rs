//! The plugins of a release: one tar archive beside the programs, which is read and never unpacked.
//!
//! A release is a flat set of signed files, so the folders of the plugins are packed into one of them.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use link_protocol::plugin::{Manifest, PROJECT_FILE, SIZE_LIMIT};

use super::{
    PluginError, read as read_folder,
    tarball::{self, Bounds, PackedFile, RefusedArchive},
};
use crate::layout::PLUGINS;

/// The bounds of the file.
const PACKAGE_BOUNDS: Bounds = Bounds { files: 512, bytes: 4 * 1024 * 1024 };
/// The environment variable with a folder of plugins that replaces the release's, for developers.
const FOLDER: &str = "LINK_PLUGINS";

/// The texts of the files of one plugin, by name.
type Files = BTreeMap<String, String>;

/// Reads the plugins of the release of the running program. Each has a name for messages.
pub(super) fn read() -> Vec<(String, Result<Manifest, PluginError>)> {
    if let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) {
        return in_checkout(&folder);
    }
    let program = std::env::current_exe().ok();
    let package = program.and_then(|program| Some(program.parent()?.join(PLUGINS)));
    match package.map(|path| (std::fs::File::open(&path), path)) {
        Some((Ok(file), path)) => in_package(file, &path),
        // A program of a checkout has no release beside it.
        Some((Err(_), _)) | None if cfg!(debug_assertions) => {
            in_checkout(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../plugins")))
        }
        Some((Err(_), _)) | None => Vec::new(),
    }
}

fn in_checkout(folder: &Path) -> Vec<(String, Result<Manifest, PluginError>)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    folders.retain(|folder| folder.join(PROJECT_FILE).is_file());
    folders.sort();
    folders.into_iter().map(|path| (path.display().to_string(), read_folder(&path))).collect()
}

pub(super) fn in_package(
    package: impl io::Read,
    path: &Path,
) -> Vec<(String, Result<Manifest, PluginError>)> {
    let unreadable = |refused: RefusedArchive| PluginError::Package {
        doing: "read",
        path: path.to_owned(),
        source: io::Error::other(refused),
    };
    let packed = match tarball::read(package, PACKAGE_BOUNDS) {
        Ok(packed) => packed,
        Err(refused) => return vec![(path.display().to_string(), Err(unreadable(refused)))],
    };
    let mut plugins = BTreeMap::<String, Files>::new();
    for PackedFile { folder, name, contents, is_program: _ } in packed {
        // Files that are no text are no part of a manifest.
        let text = String::from_utf8(contents).ok();
        if let Some(text) = text.filter(|text| text.len() as u64 <= SIZE_LIMIT) {
            plugins.entry(folder).or_default().insert(name, text);
        }
    }
    let read = |(name, files): (String, Files)| {
        let place = path.join(&name);
        let text = |file: &str| {
            files.get(file).cloned().ok_or_else(|| PluginError::NoProject(place.clone()))
        };
        let manifest = text(PROJECT_FILE).and_then(|project| Manifest::read(&project, text));
        (place.display().to_string(), manifest)
    };
    plugins.into_iter().map(read).collect()
}

/// Packs the plugins of the checkout's folder `plugins` into the file of a release. The bytes depend only on the files.
///
/// # Errors
/// If a folder cannot be read or is not a usable plugin.
pub fn package(folder: &Path) -> Result<Vec<u8>, PluginError> {
    let failed =
        |path: &Path, source| PluginError::Package { doing: "pack", path: path.to_owned(), source };
    let mut packed = Vec::new();
    for (path, manifest) in in_checkout(folder) {
        let (id, path) = (manifest?.id, PathBuf::from(path));
        let mut files: Vec<PathBuf> = std::fs::read_dir(&path)
            .map_err(|source| failed(&path, source))?
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.is_file() && !path.ends_with("Cargo.toml"))
            .collect();
        files.sort();
        for file in files {
            let contents = std::fs::read(&file).map_err(|source| failed(&file, source))?;
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            packed.push(PackedFile { folder: id.clone(), name, contents, is_program: false });
        }
    }
    tarball::write(&packed).map_err(|source| failed(folder, source))
}
