//! The file with the owner's proof, with mode 0600 in a folder with mode 0700. The file exists only while the backend
//! answers requests.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

use link_platform::fs::{self, FileError};
use link_protocol::{
    backend_api::local_owner::{OWNER_FILE, OWNER_FOLDER, OwnerFile},
    secret::Secret,
};

/// Writes the proof for the backend that listens on `address` and whose data folder is `data`.
///
/// # Errors
/// [`FileError`].
pub fn write(data: &Path, proof: Secret, address: SocketAddr) -> Result<(), FileError> {
    let file = OwnerFile {
        proof,
        url: format!("http://{address}"),
        pid: std::process::id(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let text = serde_json::json!(file).to_string();
    fs::create_private_dir(&data.join(OWNER_FOLDER))?;
    fs::write_private(&path(data), text.as_bytes())
}

/// Deletes the proof. It is useless after the backend has stopped.
///
/// # Errors
/// [`FileError`].
pub fn remove(data: &Path) -> Result<(), FileError> {
    fs::remove_file(&path(data))
}

fn path(data: &Path) -> PathBuf {
    data.join(OWNER_FOLDER).join(OWNER_FILE)
}
