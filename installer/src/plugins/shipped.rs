//! The plugins of a release: one tar archive beside the programs, which is read and never unpacked.
//!
//! A release is a flat set of signed files, so the folders of the plugins are packed into one of them.

use std::{
    collections::BTreeMap,
    io::{self, Read as _},
    path::{Component, Path, PathBuf},
};

use link_protocol::plugin::{Manifest, PROJECT_FILE, SIZE_LIMIT};

use super::{PluginError, read as read_folder};

/// The file of a release that holds the folders of its plugins.
pub const PACKAGE: &str = "plugins.tar";
/// The size limit of the file, in bytes.
const PACKAGE_LIMIT: u64 = 4 * 1024 * 1024;
/// The most files in it.
const FILES_LIMIT: usize = 512;
/// The modification time of every entry: 1 January 2026, in Unix seconds.
const MODIFIED: u64 = 1_767_225_600;
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
    let package = program.and_then(|program| Some(program.parent()?.join(PACKAGE)));
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
    let unreadable = |source| PluginError::Package { doing: "read", path: path.to_owned(), source };
    let plugins = match unpack(package) {
        Ok(plugins) => plugins,
        Err(source) => return vec![(path.display().to_string(), Err(unreadable(source)))],
    };
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

/// Returns the files of each folder in the archive. Files that are no text are left out.
fn unpack(package: impl io::Read) -> io::Result<BTreeMap<String, Files>> {
    let invalid = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    let mut plugins = BTreeMap::<String, Files>::new();
    let mut archive = tar::Archive::new(package.take(PACKAGE_LIMIT));
    for (count, entry) in archive.entries()?.enumerate() {
        let entry = entry?;
        if count == FILES_LIMIT || entry.header().entry_type() != tar::EntryType::Regular {
            return Err(invalid("it holds more than plain files"));
        }
        let path = entry.path()?.into_owned();
        let parts: Vec<&str> = path
            .components()
            .filter_map(|part| match part {
                Component::Normal(name) => name.to_str(),
                Component::Prefix(_)
                | Component::RootDir
                | Component::CurDir
                | Component::ParentDir => None,
            })
            .collect();
        let [folder, file] = parts[..] else { return Err(invalid("a name in it is no `ID/FILE`")) };
        let mut text = String::new();
        if entry.take(SIZE_LIMIT).read_to_string(&mut text).is_ok() {
            plugins.entry(folder.to_owned()).or_default().insert(file.to_owned(), text);
        }
    }
    Ok(plugins)
}

/// Packs the plugins of the checkout's folder `plugins` into the file of a release. The bytes depend only on the files.
///
/// # Errors
/// If a folder cannot be read or is no usable plugin.
pub fn package(folder: &Path) -> Result<Vec<u8>, PluginError> {
    let failed =
        |path: &Path, source| PluginError::Package { doing: "pack", path: path.to_owned(), source };
    let mut archive = tar::Builder::new(Vec::new());
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
            let mut header = tar::Header::new_ustar();
            header.set_entry_type(tar::EntryType::Regular);
            header.set_size(contents.len() as u64);
            header.set_mode(0o644);
            header.set_mtime(MODIFIED);
            header.set_uid(0);
            header.set_gid(0);
            archive
                .append_data(&mut header, format!("{id}/{name}"), contents.as_slice())
                .map_err(|source| failed(&file, source))?;
        }
    }
    archive.into_inner().map_err(|source| failed(folder, source))
}
