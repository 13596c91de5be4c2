//! Uninstalls a device: deletes the files that the receipt lists, and Link's files in its own folders.
//!
//! A damaged or lost receipt does not prevent this: every file that can be found without the receipt is deleted. The
//! installer's lock is held until the end, and its file is deleted last.

#![expect(clippy::disallowed_methods, reason = "IO shell: deletes what was installed")]

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
};

use link_platform::{checkpoint, path_env::Shells, program};

use crate::{
    layout::{self, Layout},
    observe::is_own_command,
    path_files,
    receipt::{InstalledFile, Receipt},
    service,
    shared::SharedFile,
    unpacked::hash_of,
    versions::{self, ChangeError, Versions, has_hash},
};

/// Link's entries in a folder that existed before, in the order of their deletion. The receipt, which marks an
/// installation, is the last.
const DATA: &[&str] = &[
    "versions",
    "guard",
    "engines",
    "plugins",
    "staging",
    "staging.lock",
    layout::COMPLETIONS,
    "share",
    "update.json",
    "current",
    layout::RECEIPT,
];
const STATE: &[&str] = &[
    "identity.json",
    "registration.pending",
    "agent.lock",
    "agent.pid",
    "guard.lock",
    "guard.pid",
    "journal.db",
    "journal.db-shm",
    "journal.db-wal",
    "configs",
    "logs",
    "models",
    "run",
    "chat_history",
    "catalogue.json",
    "plugin-download",
    "plugin-download.lock",
    "check",
    "start.lock",
    "up.lock",
];
const CONFIG: &[&str] =
    &["credentials.json", "credentials.lock", "backend_url", "engine-keys", "plugin-keys"];

/// Prefixes of temporary files that a crash may leave in our folders.
const LEFTOVERS: &[&str] = &[".new-", ".install.", "self-check-", "journal."];

/// An uninstallation in progress, under the installer's lock.
#[derive(Debug)]
pub struct Uninstallation {
    layout: Layout,
    /// The receipt. None if something was installed but the receipt is lost or damaged.
    receipt: Option<Receipt>,
    versions: Option<Versions>,
}

/// Where to look for files that a lost receipt would list.
#[derive(Clone, Copy, Debug, Default)]
pub struct Places<'a> {
    /// The shells whose start files may hold our block.
    pub shells: Option<&'a Shells>,
    /// Completions and manual pages. Files with exactly these contents count as ours.
    pub shared: &'a [SharedFile],
}

impl Uninstallation {
    /// Takes the installer's lock.
    ///
    /// # Errors
    /// [`ChangeError::Busy`] if another installer is running.
    pub fn begin(layout: &Layout) -> Result<Self, ChangeError> {
        // Without an installation, create no lock file.
        let is_there = layout.lock().exists() || layout.receipt().exists();
        let locked = is_there.then(|| Versions::lock_within(layout, versions::PATIENCE));
        let versions = match locked {
            Some(Err(ChangeError::Busy)) => return Err(ChangeError::Busy),
            // A disk without space for the lock file must not prevent the uninstallation.
            locked => locked.and_then(Result::ok),
        };
        let receipt = match Receipt::load(&layout.receipt()) {
            Ok(None) if versions::current(layout).is_some() => None,
            Ok(receipt) => Some(receipt.unwrap_or_default()),
            Err(_) => None,
        };
        Ok(Self { layout: layout.clone(), receipt, versions })
    }

    /// Returns whether the receipt is lost, so that the list of installed files is unknown.
    #[must_use]
    pub const fn has_lost_receipt(&self) -> bool {
        self.receipt.is_none()
    }

    /// Deletes everything that was installed, and returns what is left.
    #[must_use]
    pub fn finish(self, places: Places<'_>) -> Left {
        let layout = &self.layout;
        let receipt = self.receipt.unwrap_or_else(|| observe(layout, places));
        let roots = layout.roots();
        let mut left = service::manager().remove(&receipt);
        checkpoint::reach("unit-removed");
        left.extend(path_files::restore(layout, &receipt.path_files));
        checkpoint::reach("path-restored");
        remove_programs(layout, &receipt, &mut left);
        for (folder, own) in [(&roots.config, CONFIG), (&roots.state, STATE), (&roots.data, DATA)] {
            remove_this_program(folder, &receipt, &mut left);
            own.iter().for_each(|name| remove(&folder.join(name), &mut left));
            remove_leftovers(folder, &mut left);
            if receipt.folders.contains(folder) {
                remove_contents(folder, &layout.lock(), &mut left);
            }
            checkpoint::reach("folder-removed");
        }
        remove(&layout.lock(), &mut left);
        // Where an open file keeps its name until it is closed, the folder of the lock is empty only now.
        drop(self.versions);
        remove_folders(&receipt);
        // An installation that was interrupted before it wrote a receipt has left its own folders empty.
        let own = [&roots.data, &roots.state, &roots.config];
        for folder in own.into_iter().filter(|folder| folder.ends_with("link")) {
            let _holds_more = std::fs::remove_dir(folder);
        }
        let holds_more = |folder: &&PathBuf| {
            std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some())
        };
        let mut folders: Vec<_> =
            receipt.folders.iter().chain(own).filter(holds_more).cloned().collect();
        folders.sort();
        folders.dedup();
        Left { failed: left, folders }
    }
}

/// The leftovers of an uninstallation.
#[derive(Debug, Default)]
pub struct Left {
    /// Paths that could not be deleted, each with the error.
    pub failed: Vec<(PathBuf, io::Error)>,
    /// Our folders that contain other files, outermost first.
    pub folders: Vec<PathBuf>,
}

/// Rebuilds a lost receipt from what is on disk. Folders with our name count as ours. The request to run services
/// without a login does not: another program may need it.
fn observe(layout: &Layout, places: Places<'_>) -> Receipt {
    let found = |file: &&SharedFile| has_hash(&file.path, hash_of(&file.contents).as_str());
    let file = |file: &SharedFile| InstalledFile {
        path: file.path.clone(),
        sha256: hash_of(&file.contents).to_string(),
    };
    let roots = layout.roots();
    let folders = [&roots.data, &roots.state, &roots.config].into_iter();
    Receipt {
        files: places.shared.iter().filter(found).map(file).collect(),
        folders: folders.filter(|folder| folder.ends_with("link")).cloned().collect(),
        unit: service::manager().unit_of_our_guard(layout),
        path_files: places
            .shells
            .map(|shells| path_files::observe(layout, shells))
            .unwrap_or_default(),
        ..Receipt::default()
    }
}

/// Undoes a failed first installation. The identity of the device stays.
pub(crate) fn undo(layout: &Layout, receipt: &Receipt) -> Vec<(PathBuf, io::Error)> {
    let mut left = Vec::new();
    remove_programs(layout, receipt, &mut left);
    DATA.iter()
        .filter(|name| !matches!(**name, "engines" | "plugins"))
        .for_each(|name| remove(&layout.roots().data.join(name), &mut left));
    remove(&layout.lock(), &mut left);
    remove_folders(receipt);
    left
}

/// Removes the files outside Link's folders.
fn remove_programs(layout: &Layout, receipt: &Receipt, left: &mut Vec<(PathBuf, io::Error)>) {
    // The environment of the installation may have named another folder for the command than ours does.
    let elsewhere = receipt.pointers.iter().filter(|pointer| **pointer != layout.current());
    let commands: BTreeSet<_> = layout.commands().into_iter().chain(elsewhere.cloned()).collect();
    for command in commands {
        if is_own_command(layout, receipt, &command)
            && let Err(error) = program::remove(&command, &outermost(receipt, &command))
        {
            left.push((command, error));
        }
    }
    receipt.files.iter().for_each(|file| remove(&file.path, left));
    checkpoint::reach("outside-removed");
}

/// Removes the running program if it is in `folder`: where a running program cannot be deleted, neither could its folder.
fn remove_this_program(folder: &Path, receipt: &Receipt, left: &mut Vec<(PathBuf, io::Error)>) {
    let own = std::env::current_exe().and_then(|own| own.canonicalize());
    let (Ok(own), Ok(folder)) = (own, folder.canonicalize()) else { return };
    if own.starts_with(folder)
        && let Err(error) = program::remove(&own, &outermost(receipt, &own))
    {
        left.push((own, error));
    }
}

/// Returns the outermost folder around `program` that the uninstallation removes, or the folder of the program.
fn outermost(receipt: &Receipt, program: &Path) -> PathBuf {
    let own = program.parent().unwrap_or(program);
    let own = own.canonicalize().unwrap_or_else(|_| own.to_owned());
    let removed = receipt.folders.iter().filter_map(|folder| folder.canonicalize().ok());
    let around = removed.filter(|folder| own.starts_with(folder));
    around.min_by_key(|folder| folder.components().count()).unwrap_or(own)
}

fn remove_leftovers(folder: &Path, left: &mut Vec<(PathBuf, io::Error)>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if LEFTOVERS.iter().any(|start| name.starts_with(start)) {
            remove(&entry.path(), left);
        }
    }
}

/// Empties one of our folders, except for the lock.
fn remove_contents(folder: &Path, lock: &Path, left: &mut Vec<(PathBuf, io::Error)>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path() != lock {
            remove(&entry.path(), left);
        }
    }
}

/// Removes the folders that the installation created, unless they contain other files.
fn remove_folders(receipt: &Receipt) {
    let mut folders: Vec<_> = receipt.folders.iter().collect();
    folders.sort();
    for folder in folders.into_iter().rev() {
        let _holds_more = std::fs::remove_dir(folder);
    }
}

fn remove(path: &Path, left: &mut Vec<(PathBuf, io::Error)>) {
    let removed = match std::fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => std::fs::remove_dir_all(path),
        Ok(_) => std::fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            left.push((path.to_owned(), error));
        }
        Ok(()) | Err(_) => {}
    }
}
