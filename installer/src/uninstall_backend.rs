//! Uninstalls the backend: deletes everything except its data. On request, deletes the data too.

#![expect(clippy::disallowed_methods, reason = "IO shell: deletes what was installed")]

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
};

use crate::{
    layout::{self, Layout},
    observe::is_own_command,
    receipt::Receipt,
    service::{Scope, backend},
    shared::SharedFile,
    versions::{ChangeError, Versions},
};

/// Our entries in the programs' folder. The receipt, which marks an installation, is the last.
const OWN: &[&str] = &["versions", "current", layout::COMPLETIONS, "share", layout::RECEIPT];

/// What to delete in addition to the programs.
#[derive(Clone, Copy, Debug)]
pub struct Further<'a> {
    /// The configuration, with the text that the installation wrote. It is deleted if the text is
    /// unchanged.
    pub config: (&'a Path, &'a str),
    /// Completions and manual pages. Without a receipt, files with exactly these contents count as
    /// ours.
    pub shared: &'a [SharedFile],
    /// Whether to delete the data and the configuration too.
    pub purge: bool,
}

/// Stops the service and deletes the installation. Returns the paths that could not be deleted.
///
/// # Errors
/// [`ChangeError::Busy`] if another installer is running.
pub fn run(
    layout: &Layout,
    scope: Option<Scope>,
    further: Further<'_>,
) -> Result<Vec<(PathBuf, io::Error)>, ChangeError> {
    let versions = Versions::lock(layout)?;
    let receipt = Receipt::read(&layout.receipt()).unwrap_or_default();
    let mut left = scope.map(|scope| backend::remove(&receipt, scope)).unwrap_or_default();
    // The environment of the installation may have named another folder for the command than ours does.
    let elsewhere = receipt.pointers.iter().filter(|pointer| **pointer != layout.current());
    let commands: BTreeSet<_> = layout.commands().into_iter().chain(elsewhere.cloned()).collect();
    for command in commands {
        if is_own_command(layout, &receipt, &command) {
            delete(&command, &mut left);
        }
    }
    for file in &receipt.files {
        delete(&file.path, &mut left);
    }
    for file in further.shared {
        if std::fs::read(&file.path).is_ok_and(|contents| contents == file.contents) {
            delete(&file.path, &mut left);
        }
    }
    let roots = layout.roots();
    let (config, written) = further.config;
    if further.purge || std::fs::read_to_string(config).is_ok_and(|text| text == written) {
        delete(config, &mut left);
    }
    if further.purge {
        delete(&roots.state, &mut left);
        if scope == Some(Scope::System) {
            backend::remove_user();
        }
    }
    for name in OWN {
        delete(&roots.data.join(name), &mut left);
    }
    delete(&layout.lock(), &mut left);
    drop(versions);
    let made = [&roots.data, &roots.config].into_iter().chain(&receipt.folders);
    let mut folders: Vec<_> = made.filter(|folder| **folder != roots.state).collect();
    folders.sort();
    for folder in folders.into_iter().rev() {
        let _holds_more = std::fs::remove_dir(folder);
    }
    Ok(left)
}

fn delete(path: &Path, left: &mut Vec<(PathBuf, io::Error)>) {
    let deleted = match std::fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => std::fs::remove_dir_all(path),
        Ok(_) => std::fs::remove_file(path),
        Err(error) => Err(error),
    };
    match deleted {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            left.push((path.to_owned(), error));
        }
        Ok(()) | Err(_) => {}
    }
}
