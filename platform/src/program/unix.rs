//! Programs and symbolic links. A running program can be replaced and deleted like any other file.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "IO shell: moves and removes programs"
)]

use std::{fs::File, io, path::Path};

use crate::pointer;

/// The command.
pub const LINK: &str = "link";
/// The second name of the command.
pub const LINKCTL: &str = "linkctl";
/// The agent.
pub const AGENT: &str = "link-agent";
/// The guard.
pub const GUARD: &str = "link-guard";
/// The backend.
pub const BACKEND: &str = "link-backend";

pub(super) fn leads_to(path: &Path, target: &Path) -> Option<bool> {
    pointer::read(path).map(|found| found == target)
}

pub(super) fn make_command(path: &Path, target: &Path) -> io::Result<()> {
    pointer::replace(path, target)
}

pub(super) fn replace(staged: &Path, program: &Path) -> io::Result<()> {
    std::fs::rename(staged, program)?;
    File::open(program.parent().unwrap_or(Path::new(".")))?.sync_all()
}

pub(super) fn remove(program: &Path, _doomed: &Path) -> io::Result<()> {
    std::fs::remove_file(program)
}
