//! The value `Path` in the environment of this user, which Windows keeps in the registry. Other systems have none.
//!
//! The value is read and written as it stands there: a name such as `%USERPROFILE%` in it is not expanded.

use std::{io, path::PathBuf};

#[cfg_attr(not(windows), path = "user_path/other.rs")]
#[cfg_attr(windows, path = "user_path/windows.rs")]
mod system;

/// The name of the value, for people and in the receipt.
pub const NAME: &str = r"HKEY_CURRENT_USER\Environment\Path";

/// Whether this system has the value.
pub const IS_THERE: bool = cfg!(windows);

/// Reads the value. None if it is not set.
///
/// # Errors
/// If the registry cannot be read, or the value is no text.
pub fn read() -> io::Result<Option<String>> {
    system::read()
}

/// Writes the value and keeps its type. Programs that start from now on see it, also those that a running desktop starts.
///
/// # Errors
/// If the registry cannot be written.
pub fn write(text: &str) -> io::Result<()> {
    system::write(text)
}

/// Deletes the value.
///
/// # Errors
/// If the registry cannot be written.
pub fn remove() -> io::Result<()> {
    system::remove()
}

/// Returns the folders in which a new terminal searches for a program: first those of the machine, then those of the user.
#[must_use]
pub fn searched_folders() -> Vec<PathBuf> {
    system::searched_folders()
}
