//! The programs of Link as files: their names, the command that a person types, and the replacement of a file that may
//! be running.
//!
//! On Unix a command is a symbolic link to its program. On Windows only an administrator may create symbolic links, so
//! a command is a copy of its program, and a running program can be moved but neither overwritten nor deleted.

use std::{env::consts::EXE_SUFFIX, io, path::Path};

#[cfg(unix)]
#[path = "program/unix.rs"]
mod system;
#[cfg(windows)]
#[path = "program/windows.rs"]
mod system;

pub use system::{AGENT, BACKEND, GUARD, LINK, LINKCTL};

/// Returns the file name of the program `name`, such as `llama-server`. On Windows it ends with `.exe`.
#[must_use]
pub fn file_of(name: &str) -> String {
    if name.ends_with(EXE_SUFFIX) { name.to_owned() } else { format!("{name}{EXE_SUFFIX}") }
}

/// Returns whether the command at `path` leads to `target`. None if the file at `path` can be no command of Link.
///
/// `target` may lie behind a pointer, such as `current/link`.
#[must_use]
pub fn leads_to(path: &Path, target: &Path) -> Option<bool> {
    system::leads_to(path, target)
}

/// Creates the command `path`, which leads to `target`. The change is atomic.
///
/// # Errors
/// If the folder of the command cannot be written. On Windows also if `target` cannot be read.
pub fn make_command(path: &Path, target: &Path) -> io::Result<()> {
    system::make_command(path, target)
}

/// Moves the file `staged` to `program`, which may be running.
///
/// # Errors
/// If the folder cannot be written. The old program is then unchanged.
pub fn replace(staged: &Path, program: &Path) -> io::Result<()> {
    system::replace(staged, program)
}

/// Removes a program, which may be the running one, and what changes of it have moved aside. `doomed` is the outermost folder
/// around the program that is removed too: on Windows, the rest of a running program waits beside that folder for its end.
///
/// # Errors
/// If a file exists and cannot be removed.
pub fn remove(program: &Path, doomed: &Path) -> io::Result<()> {
    system::remove(program, doomed)
}
