//! Programs as copies. A running program is moved aside, and what is left of it is removed by the next change.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "IO shell: copies, moves and removes programs"
)]

use std::{
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use crate::{
    held::{is_held, rename},
    pointer,
};

/// The command.
pub const LINK: &str = "link.exe";
/// The second name of the command.
pub const LINKCTL: &str = "linkctl.exe";
/// The agent.
pub const AGENT: &str = "link-agent.exe";
/// The guard.
pub const GUARD: &str = "link-guard.exe";
/// The backend.
pub const BACKEND: &str = "link-backend.exe";

/// The suffix of a program that was moved aside.
const ASIDE: &str = "old";
pub(super) fn leads_to(path: &Path, target: &Path) -> Option<bool> {
    std::fs::symlink_metadata(path).ok()?;
    Some(is_same(path, &behind(target)).unwrap_or(false))
}

pub(super) fn make_command(path: &Path, target: &Path) -> io::Result<()> {
    let staged = path.with_extension("new");
    std::fs::copy(behind(target), &staged)?;
    File::options().write(true).open(&staged)?.sync_all()?;
    replace(&staged, path)
}

pub(super) fn replace(staged: &Path, program: &Path) -> io::Result<()> {
    // A program that an earlier change moved aside has ended by now, or stays for the next change.
    for aside in moved_aside(program) {
        let _still_runs = std::fs::remove_file(aside);
    }
    let aside = program.with_extension(ASIDE);
    match rename(staged, program) {
        Err(error) if is_held(&error) => {
            // A second program moved aside needs another name.
            let aside = if aside.exists() { numbered(program) } else { aside };
            rename(program, &aside)?;
            rename(staged, program).inspect_err(|_| {
                let _restored = rename(&aside, program);
            })
        }
        done => done,
    }
}

pub(super) fn remove(program: &Path, doomed: &Path) -> io::Result<()> {
    let removed = match std::fs::remove_file(program) {
        // To the folder for temporary files, or beside `doomed` if that folder is on another drive.
        Err(error) if is_held(&error) && is_this_program(program) => {
            self_replace::self_delete_outside_path(doomed)
        }
        done => done,
    };
    let asides = moved_aside(program).into_iter().try_for_each(|aside| {
        std::fs::remove_file(&aside).map_err(|error| {
            io::Error::new(error.kind(), format!("`{}` still runs: {error}", aside.display()))
        })
    });
    removed.and(asides)
}

/// Returns the programs that changes of `program` have moved aside.
fn moved_aside(program: &Path) -> Vec<PathBuf> {
    let aside = program.with_extension(ASIDE);
    let start = aside.file_name().unwrap_or_default().as_encoded_bytes();
    let entries = program.parent().and_then(|folder| std::fs::read_dir(folder).ok());
    let names = entries.into_iter().flatten().flatten();
    names
        .filter(|entry| entry.file_name().as_encoded_bytes().starts_with(start))
        .map(|entry| entry.path())
        .collect()
}

fn is_this_program(path: &Path) -> bool {
    let own = std::env::current_exe().and_then(std::fs::canonicalize);
    matches!((own, std::fs::canonicalize(path)), (Ok(own), Ok(path)) if own == path)
}

fn numbered(program: &Path) -> PathBuf {
    program.with_extension(format!("{ASIDE}{}", std::process::id()))
}

/// Returns the file at `target`, whose folder may be a pointer.
fn behind(target: &Path) -> PathBuf {
    let folder = target.parent().map(pointer::follow).unwrap_or_default();
    folder.join(target.file_name().unwrap_or_default())
}

fn is_same(one: &Path, other: &Path) -> io::Result<bool> {
    let (one, other) = (File::open(one)?, File::open(other)?);
    if one.metadata()?.len() != other.metadata()?.len() {
        return Ok(false);
    }
    let (mut one, mut other) = (io::BufReader::new(one).bytes(), io::BufReader::new(other).bytes());
    loop {
        match (one.next().transpose()?, other.next().transpose()?) {
            (None, None) => return Ok(true),
            (one, other) if one == other => {}
            _ => return Ok(false),
        }
    }
}
