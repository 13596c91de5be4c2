//! Takes an installation away: what its receipt lists and what Link keeps in its own folders.

#![expect(clippy::disallowed_methods, reason = "IO shell: deletes what was installed")]

use std::{
    io,
    path::{Path, PathBuf},
};

use link_platform::{checkpoint, pointer};

use crate::{layout::Layout, path_files, receipt::Receipt, service::systemd};

/// What Link makes in a folder that was there before it.
const DATA: &[&str] = &[
    "versions",
    "current",
    "guard",
    "engines",
    "staging",
    "update.json",
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

/// Deletes everything that was installed; returns what could not be deleted and why.
#[must_use]
pub fn uninstall(layout: &Layout) -> Vec<(PathBuf, io::Error)> {
    let receipt = Receipt::read(&layout.receipt()).unwrap_or_default();
    let mut left = Vec::new();
    left.extend(systemd::remove(&receipt));
    checkpoint::reach("unit-removed");
    left.extend(path_files::restore(&receipt.path_files));
    checkpoint::reach("path-restored");
    for command in layout.commands() {
        if pointer::read(&command).is_some_and(|target| target == layout.command_target()) {
            remove(&command, &mut left);
        }
    }
    for file in &receipt.files {
        remove(&file.path, &mut left);
    }
    checkpoint::reach("outside-removed");
    let roots = layout.roots();
    // The receipt goes with the data, which is last: an interrupted run can be repeated.
    for (folder, own) in [(&roots.config, CONFIG), (&roots.state, STATE), (&roots.data, DATA)] {
        if receipt.folders.contains(folder) {
            remove(folder, &mut left);
        } else {
            own.iter().for_each(|name| remove(&folder.join(name), &mut left));
        }
        checkpoint::reach("folder-removed");
    }
    let mut folders: Vec<_> = receipt.folders.iter().collect();
    folders.sort();
    for folder in folders.into_iter().rev() {
        // A folder that holds something else stays.
        let _holds_more = std::fs::remove_dir(folder);
    }
    left
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
