//! Uninstalls a device: deletes what the receipt lists, and Link's files in its own folders.
//!
//! A damaged or lost receipt does not prevent this: everything that can be found without the receipt is deleted. The lock
//! of the installers is held until the last file is deleted, and is deleted last.

#![expect(clippy::disallowed_methods, reason = "IO shell: deletes what was installed")]

use std::{
    io,
    path::{Path, PathBuf},
};

use link_platform::{checkpoint, path_env::Shells, pointer};

use crate::{
    layout::Layout,
    path_files,
    receipt::{InstalledFile, Receipt},
    service::systemd,
    shared::SharedFile,
    unpacked::hash_of,
    versions::{self, ChangeError, Versions, has_hash},
};

/// Link's entries in a folder that existed before, in the order of their deletion. The mark of an installation is the
/// last.
const DATA: &[&str] = &[
    "versions",
    "guard",
    "engines",
    "staging",
    "staging.lock",
    "completions",
    "share",
    "update.json",
    "current",
    "receipt.json",
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
    "up.lock",
];
const CONFIG: &[&str] = &["credentials.json", "credentials.lock", "backend_url"];

/// Prefixes of the names of files that a crash may leave in our folders.
const LEFTOVERS: &[&str] = &[".new-", ".install.", "self-check-", "journal."];

/// An installation that is being uninstalled, under the lock of the installers.
#[derive(Debug)]
pub struct Uninstallation {
    layout: Layout,
    /// Nothing where something was installed and nobody knows what.
    receipt: Option<Receipt>,
    _versions: Option<Versions>,
}

/// Where to look for what no receipt tells of.
#[derive(Clone, Copy, Debug, Default)]
pub struct Places<'a> {
    /// Whose start files may hold our block.
    pub shells: Option<&'a Shells>,
    /// What is ours if it holds just that.
    pub shared: &'a [SharedFile],
}

impl Uninstallation {
    /// Keeps other installers away.
    ///
    /// # Errors
    /// [`ChangeError::Busy`] when one is at work.
    pub fn begin(layout: &Layout) -> Result<Self, ChangeError> {
        // Where nothing was installed no file of a lock is made.
        let is_there = layout.lock().exists() || layout.receipt().exists();
        let locked = is_there.then(|| Versions::lock_within(layout, versions::PATIENCE));
        let versions = match locked {
            Some(Err(ChangeError::Busy)) => return Err(ChangeError::Busy),
            // A disk without room for that file must not keep the rest from going.
            locked => locked.and_then(Result::ok),
        };
        let receipt = match Receipt::load(&layout.receipt()) {
            Ok(None) if versions::current(layout).is_some() => None,
            Ok(receipt) => Some(receipt.unwrap_or_default()),
            Err(_) => None,
        };
        Ok(Self { layout: layout.clone(), receipt, _versions: versions })
    }

    /// Tells whether it is not known what was installed.
    #[must_use]
    pub const fn has_lost_receipt(&self) -> bool {
        self.receipt.is_none()
    }

    /// Deletes everything that was installed, looks again, and returns what is still there.
    #[must_use]
    pub fn finish(self, places: Places<'_>) -> Left {
        let layout = &self.layout;
        let receipt = self.receipt.unwrap_or_else(|| observe(layout, places));
        let roots = layout.roots();
        let mut left = systemd::remove(&receipt);
        checkpoint::reach("unit-removed");
        left.extend(path_files::restore(&receipt.path_files));
        checkpoint::reach("path-restored");
        remove_programs(layout, &receipt, &mut left);
        for (folder, own) in [(&roots.config, CONFIG), (&roots.state, STATE), (&roots.data, DATA)] {
            own.iter().for_each(|name| remove(&folder.join(name), &mut left));
            remove_leftovers(folder, &mut left);
            if receipt.folders.contains(folder) {
                remove_contents(folder, &layout.lock(), &mut left);
            }
            checkpoint::reach("folder-removed");
        }
        remove(&layout.lock(), &mut left);
        remove_folders(&receipt);
        // An installation that was cut short before it wrote a receipt has left its own folders empty.
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

/// What an uninstallation left behind.
#[derive(Debug, Default)]
pub struct Left {
    /// What could not be deleted, and why.
    pub failed: Vec<(PathBuf, io::Error)>,
    /// Folders of ours that hold something else, from the outermost inwards.
    pub folders: Vec<PathBuf>,
}

/// What can be found of an installation without its receipt. Folders count as ours when they bear
/// our name; that services run without a login may be another's wish.
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
        unit: systemd::unit_of_our_guard(layout),
        path_files: places
            .shells
            .map(|shells| path_files::observe(layout, shells))
            .unwrap_or_default(),
        ..Receipt::default()
    }
}

/// Takes back what a first installation has made that failed: who this device is stays.
pub(crate) fn undo(layout: &Layout, receipt: &Receipt) -> Vec<(PathBuf, io::Error)> {
    let mut left = Vec::new();
    remove_programs(layout, receipt, &mut left);
    DATA.iter()
        .filter(|name| **name != "engines")
        .for_each(|name| remove(&layout.roots().data.join(name), &mut left));
    remove(&layout.lock(), &mut left);
    remove_folders(receipt);
    left
}

/// Removes what stands outside of the folders of Link.
fn remove_programs(layout: &Layout, receipt: &Receipt, left: &mut Vec<(PathBuf, io::Error)>) {
    for command in layout.commands() {
        if pointer::read(&command).is_some_and(|target| target == layout.command_target()) {
            remove(&command, left);
        }
    }
    receipt.files.iter().for_each(|file| remove(&file.path, left));
    checkpoint::reach("outside-removed");
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

/// Empties a folder of ours but for the lock.
fn remove_contents(folder: &Path, lock: &Path, left: &mut Vec<(PathBuf, io::Error)>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path() != lock {
            remove(&entry.path(), left);
        }
    }
}

/// Removes the folders that were made; one that holds something else stays.
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
