//! What puts a folder first on PATH: a block in the files that shells read at their start, or an entry in the environment
//! of the user on Windows. A profile of PowerShell gets a block that loads the completions.
//!
//! Pure: text in, text out. The block is enclosed in two comment lines. Removing the block restores the previous text
//! byte for byte, including its line endings, with or without a last one.

use std::path::{Path, PathBuf};

use crate::user_path;

pub mod entries;
mod power_shell;

const BEGIN: &str = "# >>> link >>> `link uninstall` takes these lines out";
const END: &str = "# <<< link <<<";

/// The language of a place to edit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Syntax {
    /// `sh`, `bash` and `zsh`.
    Posix,
    Fish,
    /// The entries of [`user_path`].
    Entries,
    /// A profile of PowerShell. The folder is that of the completions, and not on PATH.
    PowerShell,
}

impl Syntax {
    /// Returns the language of a place that was edited. Blocks that set PATH are the same in all shells.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        let is_profile = path.extension().is_some_and(|extension| extension == "ps1");
        match path == Path::new(user_path::NAME) {
            true => Self::Entries,
            false if is_profile => Self::PowerShell,
            false => Self::Posix,
        }
    }
}

/// A place to edit: a file, or [`user_path::NAME`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StartFile {
    pub path: PathBuf,
    pub syntax: Syntax,
}

/// The facts that decide which files are edited.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Shells {
    pub home: PathBuf,
    /// `$ZDOTDIR`.
    pub zsh_folder: Option<PathBuf>,
    /// The user's configuration folder.
    pub config: PathBuf,
    /// `$SHELL`.
    pub login_shell: Option<PathBuf>,
    /// Whether PATH is in the environment of the user, where every shell finds it.
    pub user_path: bool,
    /// The profile of PowerShell that its owner wants to load the completions.
    pub power_shell: Option<PathBuf>,
}

/// Returns the places where PATH must be set. `exists` says whether a file exists.
///
/// `.profile` is always included: a login shell reads this file if it finds no file of its own.
#[must_use]
pub fn start_files(shells: &Shells, exists: impl Fn(&Path) -> bool) -> Vec<StartFile> {
    if shells.user_path {
        return vec![StartFile { path: user_path::NAME.into(), syntax: Syntax::Entries }];
    }
    let uses = |name: &str| {
        shells.login_shell.as_deref().and_then(Path::file_name).is_some_and(|shell| shell == name)
    };
    let home = |name: &str| shells.home.join(name);
    let mut files = vec![home(".profile")];
    let bash = [".bash_profile", ".bash_login", ".bashrc"].map(home);
    files.extend(bash.into_iter().filter(|file| exists(file)));
    let zsh = shells.zsh_folder.as_ref().unwrap_or(&shells.home);
    let [environment, interactive] = [".zshenv", ".zshrc"].map(|name| zsh.join(name));
    if uses("zsh") || exists(&environment) || exists(&interactive) {
        files.push(environment);
    }
    if exists(&interactive) {
        files.push(interactive);
    }
    let mut files: Vec<_> =
        files.into_iter().map(|path| StartFile { path, syntax: Syntax::Posix }).collect();
    let fish = shells.config.join("fish");
    if uses("fish") || exists(&fish) {
        files.push(StartFile { path: fish.join("conf.d/link.fish"), syntax: Syntax::Fish });
    }
    files
}

/// Returns the place that must load the completions, because its shell searches no folder for them.
#[must_use]
pub fn completion_files(shells: &Shells) -> Vec<StartFile> {
    let profile = |path: &PathBuf| StartFile { path: path.clone(), syntax: Syntax::PowerShell };
    shells.power_shell.iter().map(profile).collect()
}

/// Returns `text` with what puts `folder` on PATH, or loads the completions in it. None if the folder's name cannot be
/// there.
#[must_use]
pub fn put(syntax: Syntax, text: &str, folder: &str) -> Option<String> {
    match syntax {
        Syntax::Entries => entries::add(text, folder),
        Syntax::Posix | Syntax::Fish => Some(add(text, &line(syntax, folder)?, "")),
        Syntax::PowerShell => {
            Some(add(text, &power_shell::load(folder), &power_shell::quoted(folder)))
        }
    }
}

/// Returns `text` without what [`put`] has added.
#[must_use]
pub fn take(syntax: Syntax, text: &str, folder: &str) -> String {
    match syntax {
        Syntax::Entries => entries::remove(text, folder),
        Syntax::Posix | Syntax::Fish => remove(text, ""),
        // Another installation of this user may have a block of its own.
        Syntax::PowerShell => remove(text, &power_shell::quoted(folder)),
    }
}

/// Returns the command that puts `folder` first on PATH in the shell that runs now.
#[must_use]
pub fn for_this_shell(folder: &str) -> String {
    if user_path::IS_THERE {
        format!("$env:Path = \"{folder};$env:Path\"")
    } else {
        format!("export PATH=\"{folder}:$PATH\"")
    }
}

/// Returns the line that loads the completions in `folder` from a profile of PowerShell.
#[must_use]
pub fn for_a_profile(folder: &str) -> String {
    power_shell::load(folder)
}

/// Returns the line for `folder`. None if its name contains a colon or a line break, which PATH or the line cannot hold,
/// and where PATH has no lines.
fn line(syntax: Syntax, folder: &str) -> Option<String> {
    if folder.contains([':', '\n', '\r']) {
        return None;
    }
    Some(match syntax {
        Syntax::Entries | Syntax::PowerShell => return None,
        Syntax::Posix => {
            let name = folder.replace('\'', r"'\''");
            format!(
                "case \"$PATH\" in '{name}' | '{name}':*) ;; *) export PATH='{name}':\"$PATH\" ;; esac"
            )
        }
        Syntax::Fish => {
            let name = folder.replace('\\', r"\\").replace('\'', r"\'");
            format!("test \"$PATH[1]\" = '{name}'; or set -gx PATH '{name}' $PATH")
        }
    })
}

/// Returns `text` with a block that holds `line` at its end, and without any earlier block of ours that has `mark`.
fn add(text: &str, line: &str, mark: &str) -> String {
    let rest = remove(text, mark);
    let end_of_line = if rest.contains("\r\n") { "\r\n" } else { "\n" };
    let block = [BEGIN, line, END].join(end_of_line);
    if find(text, mark).is_some_and(|found| text[found.lines.0..found.lines.1] == block) {
        return text.to_owned();
    }
    if rest.is_empty() || rest.ends_with('\n') {
        format!("{rest}{block}{end_of_line}")
    } else {
        // The text has no last line ending, so the block gets none either. By this, a removal recognises the case.
        format!("{rest}{end_of_line}{block}")
    }
}

/// Returns `text` without our blocks that have `mark`.
fn remove(text: &str, mark: &str) -> String {
    let mut rest = text.to_owned();
    while let Some(found) = find(&rest, mark) {
        rest.replace_range(found.all.0..found.all.1, "");
    }
    rest
}

/// The position of a block in a text.
struct FoundBlock {
    /// From the first to the last comment line, without the line ending after the last.
    lines: (usize, usize),
    /// The same range, including the line endings that the edit has added.
    all: (usize, usize),
}

fn find(text: &str, mark: &str) -> Option<FoundBlock> {
    let (mut at, mut begin) = (0, None);
    for line in text.split_inclusive('\n') {
        let bare = line.strip_suffix('\n').unwrap_or(line);
        let bare = bare.strip_suffix('\r').unwrap_or(bare);
        if bare == BEGIN {
            begin = Some((at, &line[bare.len()..]));
        } else if bare == END
            && let Some((start, end_of_line)) = begin
        {
            let lines = (start, at + bare.len());
            if !text[lines.0..lines.1].contains(mark) {
                begin = None;
                at += line.len();
                continue;
            }
            let all = if line.len() > bare.len() {
                (start, at + line.len())
            } else {
                let before = text[..start].strip_suffix(end_of_line).unwrap_or(&text[..start]);
                (before.len(), at + line.len())
            };
            return Some(FoundBlock { lines, all });
        }
        at += line.len();
    }
    None
}

#[cfg(test)]
mod tests;
