//! The plugins of this machine: the folders in the data folder that a person installed, and those that the release ships
//! beside its programs.
//!
//! An installed plugin takes precedence over a shipped one of the same id. A folder that is not a usable plugin is reported
//! with its fault and affects no other plugin. Nothing in a plugin's folder is executed here.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "IO shell: lists the folders of plugins"
)]

mod archive;
mod change;
mod files;
mod named;
mod origin;
mod shipped;
mod tarball;

#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use link_platform::{
    fs::{self, FileError},
    paths::Roots,
};
use link_protocol::{
    error_chain::chain,
    plugin::{InvalidPlugin, Manifest, PROJECT_FILE, SIZE_LIMIT},
};

pub use self::{
    archive::{ArchiveError, MadeArchive, VerifiedArchive, pack},
    change::{ChangeError, Holder},
    files::FilesError,
    named::{Named, NamedError},
    origin::Origin,
    shipped::package,
};

/// The folder of a plugin that is being replaced. It is in use until the new folder has its name.
const OLD: &str = ".old";
/// The file in the folder of an installed plugin that records who signed its archive. No file of an archive has a name
/// with a dot at its beginning.
const ORIGIN: &str = ".link-origin.json";
/// The most folders of plugins that are read.
const MOST: usize = 256;

/// A usable plugin.
#[derive(Clone, Debug, PartialEq)]
pub struct Plugin {
    pub manifest: Manifest,
    pub place: Place,
}

/// Where a plugin comes from.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Place {
    /// A person installed it into this folder.
    Installed(PathBuf),
    /// It belongs to the release, and cannot be removed.
    Shipped,
}

/// A folder that is not a usable plugin.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Unusable {
    pub folder: String,
    pub why: String,
}

/// The plugins of this machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plugins {
    usable: BTreeMap<String, Plugin>,
    pub unusable: Vec<Unusable>,
}

/// A folder cannot be read as a plugin.
#[derive(Debug, thiserror::Error)]
pub enum PluginError {
    #[error("`{}` is not a plugin folder: it has no `{PROJECT_FILE}`", .0.display())]
    NoProject(PathBuf),
    #[error("`{}` leads out of the plugin's folder", .0.display())]
    Outside(PathBuf),
    #[error("failed to {doing} `{}`", .path.display())]
    Package { doing: &'static str, path: PathBuf, source: io::Error },
    #[error(transparent)]
    Invalid(#[from] InvalidPlugin),
    #[error(transparent)]
    File(#[from] FileError),
}

impl Plugins {
    /// Reads the plugins of this machine: the installed ones below `roots`, and those of the release of the running
    /// program.
    #[must_use]
    pub fn find(roots: &Roots) -> Self {
        let mut plugins = Self::installed(&roots.plugins());
        for (name, read) in shipped::read() {
            match read {
                Ok(manifest) => {
                    let id = manifest.id.clone();
                    let shipped = Plugin { manifest, place: Place::Shipped };
                    plugins.usable.entry(id).or_insert(shipped);
                }
                Err(error) => plugins.refuse(name, chain(&error)),
            }
        }
        plugins
    }

    /// Reads the plugins in the folders inside `folder`.
    fn installed(folder: &Path) -> Self {
        let mut plugins = Self::default();
        let mut folders: Vec<PathBuf> = match std::fs::read_dir(folder) {
            Ok(entries) => entries.flatten().map(|entry| entry.path()).take(MOST).collect(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return plugins,
            Err(error) => {
                plugins.refuse(folder.display().to_string(), error.to_string());
                return plugins;
            }
        };
        folders.retain(|path| !is_hidden(path));
        folders.sort();
        let mut claimed = BTreeMap::<String, Vec<Plugin>>::new();
        for path in folders {
            match read(&path) {
                Ok(manifest) => {
                    let id = manifest.id.clone();
                    let plugin = Plugin { manifest, place: Place::Installed(path) };
                    claimed.entry(id).or_default().push(plugin);
                }
                Err(error) => plugins.refuse(path.display().to_string(), chain(&error)),
            }
        }
        if let Ok(manifest) = read(&folder.join(OLD))
            && !claimed.contains_key(&manifest.id)
        {
            let plugin = Plugin { manifest, place: Place::Installed(folder.join(OLD)) };
            claimed.insert(plugin.manifest.id.clone(), vec![plugin]);
        }
        for (id, mut claims) in claimed {
            if let ([_one], Some(plugin)) = (&claims[..], claims.first().cloned()) {
                plugins.usable.insert(id, plugin);
                continue;
            }
            for plugin in claims.drain(..) {
                let Place::Installed(folder) = plugin.place else { continue };
                let why = format!("another folder also claims the id `{id}`; remove one of them");
                plugins.refuse(folder.display().to_string(), why);
            }
        }
        plugins
    }

    /// Returns the usable plugins, sorted by id.
    pub fn usable(&self) -> impl Iterator<Item = &Plugin> {
        self.usable.values()
    }

    /// Returns the plugin called `id`.
    #[must_use]
    pub fn by_id(&self, id: &str) -> Option<&Plugin> {
        self.usable.get(id)
    }

    fn refuse(&mut self, folder: String, why: String) {
        self.unusable.push(Unusable { folder, why });
    }
}

/// Reads the manifest of the plugin in `folder`.
///
/// # Errors
/// [`PluginError`] with the first fault.
pub fn read(folder: &Path) -> Result<Manifest, PluginError> {
    let project = folder.join(PROJECT_FILE);
    let text = match fs::read_plain(&project, SIZE_LIMIT) {
        Err(error) if error.is_not_found() => {
            return Err(PluginError::NoProject(folder.to_owned()));
        }
        text => text?,
    };
    Manifest::read(&text, |file| {
        let path = folder.join(file);
        // A link may lead to any file of this user.
        let is_inside = path
            .canonicalize()
            .ok()
            .zip(folder.canonicalize().ok())
            .is_none_or(|(path, folder)| path.starts_with(folder));
        if !is_inside {
            return Err(PluginError::Outside(path));
        }
        Ok(fs::read_plain(&path, SIZE_LIMIT)?)
    })
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."))
}
