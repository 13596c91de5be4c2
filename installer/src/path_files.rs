//! Puts the folder of the command first on PATH in the shells' start files, or in the environment of the user on Windows,
//! loads the completions from a profile of PowerShell, and takes both out again.
//!
//! The receipt lists a file before the file is edited, so an uninstallation also undoes an interrupted edit.

#![expect(clippy::disallowed_methods, reason = "IO shell: edits the files of the shells")]

use std::{
    env::consts::EXE_SUFFIX,
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use link_platform::{
    checkpoint, fs,
    path_env::{self, Shells, StartFile, Syntax},
    process::{self, Call},
    program, user_path,
};

use crate::{
    layout::Layout,
    receipt::{PathFile, Receipt},
    versions::{self, ChangeError, Versions},
};

/// How long a shell may take to run its start files.
const PATIENCE: Duration = Duration::from_secs(10);

/// The shells that can be asked where they find a command.
const ASKED: &[&str] =
    &["sh", "ash", "dash", "bash", "zsh", "fish", "ksh", "ksh93", "mksh", "lksh", "yash"];

/// The result for each start file.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Edited {
    /// Files that this run has edited.
    pub changed: Vec<PathBuf>,
    /// Files that already held the block.
    pub intact: Vec<PathBuf>,
    /// Files that cannot be edited, each with the reason.
    pub skipped: Vec<(PathBuf, String)>,
}

/// The state of the start files.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Survey {
    pub edits: Vec<Edit>,
    /// Files that cannot be edited, each with the reason.
    pub skipped: Vec<(PathBuf, String)>,
    /// Files that hold the block, each with whether it holds nothing else.
    intact: Vec<(PathBuf, bool)>,
}

impl Survey {
    /// Returns the files that hold our block and that no receipt lists.
    #[must_use]
    pub fn unlisted(&self, layout: &Layout) -> Vec<PathBuf> {
        let receipt = Receipt::read(&layout.receipt()).unwrap_or_default();
        let is_listed = |path: &PathBuf| receipt.path_files.iter().any(|file| file.path == *path);
        let intact = self.intact.iter().map(|(path, _)| path);
        intact.filter(|path| !is_listed(path)).cloned().collect()
    }
}

/// A start file to edit.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Edit {
    pub path: PathBuf,
    /// Whether the edit creates the file.
    created: bool,
    text: String,
}

/// Returns the places that put the command's folder on PATH.
#[must_use]
pub fn of_path(shells: &Shells) -> Vec<StartFile> {
    path_env::start_files(shells, Path::exists)
}

/// Reads `files`, and finds out which of them lack our block.
#[must_use]
pub fn survey(layout: &Layout, files: Vec<StartFile>) -> Survey {
    let mut survey = Survey::default();
    for file in files {
        let folder = folder(layout, file.syntax);
        let found = match read(&file.path) {
            Ok(found) => found,
            Err(why) => {
                survey.skipped.push((file.path, why.to_string()));
                continue;
            }
        };
        let before = found.as_deref().unwrap_or_default();
        let name = folder.to_str();
        match name.and_then(|name| path_env::put(file.syntax, before, name)) {
            None => {
                let place = match file.syntax {
                    Syntax::PowerShell => "in a profile",
                    Syntax::Posix | Syntax::Fish | Syntax::Entries => "on PATH",
                };
                let why = format!("`{}` cannot stand {place}", folder.display());
                survey.skipped.push((file.path, why));
            }
            // Nothing shows whether Link or somebody else has made an entry, so without a receipt it is somebody else's.
            Some(text) if found.as_ref() == Some(&text) && file.syntax == Syntax::Entries => {}
            Some(text) if found.as_ref() == Some(&text) => {
                let rest = path_env::take(file.syntax, &text, name.unwrap_or_default());
                survey.intact.push((file.path, rest.is_empty()));
            }
            Some(text) => {
                survey.edits.push(Edit { path: file.path, created: found.is_none(), text });
            }
        }
    }
    survey
}

/// Returns the folder that a place of this language names.
fn folder(layout: &Layout, syntax: Syntax) -> PathBuf {
    match syntax {
        Syntax::PowerShell => layout.completions(),
        Syntax::Posix | Syntax::Fish | Syntax::Entries => layout.roots().bin.clone(),
    }
}

/// Adds our block to `files`, or an entry to PATH.
///
/// # Errors
/// If another installer is running, or the receipt cannot be read or written. Then no file is edited.
pub fn add(layout: &Layout, files: Vec<StartFile>) -> Result<Edited, ChangeError> {
    let versions = Versions::lock_within(layout, versions::PATIENCE)?;
    let Survey { edits, intact, skipped } = survey(layout, files);
    versions.change_receipt(|receipt| {
        // A block that no receipt lists is also ours: the receipt was lost.
        let blocks = intact.iter().map(|(path, alone)| (path, *alone));
        for (path, created) in edits.iter().map(|edit| (&edit.path, edit.created)).chain(blocks) {
            if !receipt.path_files.iter().any(|known| known.path == *path) {
                receipt.path_files.push(PathFile { path: path.clone(), created });
                if Syntax::of(path) != Syntax::Entries {
                    receipt.add_folders(path.parent().unwrap_or(path));
                }
            }
        }
    })?;
    checkpoint::reach("path-recorded");
    let intact = intact.into_iter().map(|(path, _)| path).collect();
    let mut edited = Edited { intact, skipped, ..Edited::default() };
    for Edit { path, text, .. } in edits {
        match write(&path, &text) {
            Ok(()) => edited.changed.push(path),
            Err(why) => edited.skipped.push((path, why.to_string())),
        }
        checkpoint::reach("path-edited");
    }
    Ok(edited)
}

/// Returns whether this installation has edited one of `files`.
#[must_use]
pub fn are_edited(layout: &Layout, files: &[StartFile]) -> bool {
    let is_one = |path: &PathBuf| files.iter().any(|file| file.path == *path);
    Receipt::read(&layout.receipt())
        .is_some_and(|receipt| receipt.path_files.iter().any(|file| is_one(&file.path)))
}

/// Returns the files that hold our block, if there is no receipt that lists them.
pub(crate) fn observe(layout: &Layout, shells: &Shells) -> Vec<PathFile> {
    let mut files = of_path(shells);
    files.extend(path_env::completion_files(shells));
    let found = survey(layout, files).intact.into_iter();
    found.map(|(path, created)| PathFile { path, created }).collect()
}

/// Takes out of `files` what was added. Returns the files that could not be edited, each with its error.
#[must_use]
pub(crate) fn restore(layout: &Layout, files: &[PathFile]) -> Vec<(PathBuf, io::Error)> {
    let one = |file: &PathFile| Some((file.path.clone(), restore_one(file, layout).err()?));
    files.iter().filter_map(one).collect()
}

fn restore_one(file: &PathFile, layout: &Layout) -> io::Result<()> {
    let syntax = Syntax::of(&file.path);
    let folder = folder(layout, syntax);
    // Programs of others are found by this entry, too.
    if syntax == Syntax::Entries && has_programs_of_others(&folder) {
        return Ok(());
    }
    let Some(text) = read(&file.path)? else { return Ok(()) };
    let before = path_env::take(syntax, &text, folder.to_str().unwrap_or_default());
    if file.created && before.is_empty() {
        remove(&file.path)
    } else if before == text {
        Ok(())
    } else {
        write(&file.path, &before)
    }
}

fn has_programs_of_others(bin: &Path) -> bool {
    let Ok(mut entries) = std::fs::read_dir(bin) else { return false };
    let is_ours =
        |name: &str| [program::LINK, program::LINKCTL].iter().any(|own| name.starts_with(own));
    entries.any(|entry| entry.is_ok_and(|entry| !entry.file_name().to_str().is_some_and(is_ours)))
}

fn read(path: &Path) -> io::Result<Option<String>> {
    if Syntax::of(path) == Syntax::Entries {
        return user_path::read();
    }
    if let Some(bytes) = in_a_code_page(path) {
        return Ok(Some(bytes.into_iter().map(char::from).collect()));
    }
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the contents of a profile that Windows PowerShell 5.1 has saved in the code page of the machine. Our block is
/// plain ASCII, so each byte stands for a character and comes back as it was. None for UTF-8 and UTF-16.
fn in_a_code_page(path: &Path) -> Option<Vec<u8>> {
    if Syntax::of(path) != Syntax::PowerShell {
        return None;
    }
    let bytes = std::fs::read(path).ok()?;
    (!bytes.contains(&0) && std::str::from_utf8(&bytes).is_err()).then_some(bytes)
}

/// Writes a place and creates the folder of a file.
fn write(path: &Path, text: &str) -> io::Result<()> {
    if Syntax::of(path) == Syntax::Entries {
        return user_path::write(text);
    }
    std::fs::create_dir_all(path.parent().unwrap_or(path))?;
    let bytes = match in_a_code_page(path) {
        Some(_) => {
            text.chars().map(u8::try_from).collect::<Result<_, _>>().map_err(io::Error::other)?
        }
        None => text.as_bytes().to_vec(),
    };
    fs::rewrite(path, &bytes).map_err(io::Error::other)
}

fn remove(path: &Path) -> io::Result<()> {
    if Syntax::of(path) == Syntax::Entries {
        user_path::remove()
    } else {
        std::fs::remove_file(path)
    }
}

/// The program that a person's login shell runs for the command.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Resolved {
    Found(PathBuf),
    /// The shell does not find the command, or does not answer.
    Nothing,
    /// This shell is not supported, so its start files were not edited.
    NotAsked(PathBuf),
}

/// Starts a new login shell and asks where it finds `command`. A shell of another kind may find another program.
#[must_use]
pub fn resolve_in_login_shell(shells: &Shells, user: &str, command: &str) -> Resolved {
    if shells.user_path {
        let file = format!("{command}{EXE_SUFFIX}");
        let mut found = user_path::searched_folders().into_iter().map(|folder| folder.join(&file));
        return found.find(|path| path.is_file()).map_or(Resolved::Nothing, Resolved::Found);
    }
    let shell = shells.login_shell.clone().unwrap_or_else(|| "/bin/sh".into());
    let name = shell.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if !ASKED.contains(&name) {
        return Resolved::NotAsked(shell);
    }
    let mut env = vec![
        ("HOME".into(), shells.home.clone().into()),
        ("USER".into(), user.into()),
        ("LOGNAME".into(), user.into()),
        ("SHELL".into(), shell.clone().into()),
        ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()),
    ];
    env.extend(shells.zsh_folder.iter().map(|folder| ("ZDOTDIR".into(), folder.into())));
    let args = vec!["-l".into(), "-c".into(), format!("command -v {command}").into()];
    let answer = process::call(&Call { program: shell, args, env: Some(env), limit: PATIENCE });
    let found = answer.ok().and_then(|answer| answer.stdout.lines().last().map(PathBuf::from));
    found.filter(|found| found.is_absolute()).map_or(Resolved::Nothing, Resolved::Found)
}

#[cfg(test)]
mod tests;
