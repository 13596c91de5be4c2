//! Takes an installation away: what its receipt lists and what Link keeps in its own folders.

#![expect(clippy::disallowed_methods, reason = "IO shell: deletes what was installed")]

use std::{
    io,
    path::{Path, PathBuf},
};

use link_platform::{checkpoint, pointer};

use crate::{layout::Layout, path_files, receipt::Receipt, service::systemd};

/// What Link makes in a folder that was there before it, in the order in which it goes: what tells
/// that there is an installation is last.
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
    "install.lock",
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
];
const CONFIG: &[&str] = &["credentials.json", "credentials.lock", "backend_url"];

/// How the names of files begin that a crash may leave in our folders.
const LEFTOVERS: &[&str] = &[".new-", ".install.", "self-check-", "journal."];

/// Deletes everything that was installed; returns what could not be deleted and why.
#[must_use]
pub fn uninstall(layout: &Layout) -> Vec<(PathBuf, io::Error)> {
    let receipt = Receipt::read(&layout.receipt()).unwrap_or_default();
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
            remove(folder, &mut left);
        }
        checkpoint::reach("folder-removed");
    }
    remove_folders(&receipt);
    left
}

/// Takes back what a first installation has made that failed: who this device is stays.
pub(crate) fn undo(layout: &Layout, receipt: &Receipt) -> Vec<(PathBuf, io::Error)> {
    let mut left = Vec::new();
    remove_programs(layout, receipt, &mut left);
    DATA.iter()
        .filter(|name| **name != "engines")
        .for_each(|name| remove(&layout.roots().data.join(name), &mut left));
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
