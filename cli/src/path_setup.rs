//! Puts the `link` command on PATH, and reports which program a new shell runs for that name.

use std::path::Path;

use link_installer::{
    decide::plan::device::StartFiles,
    layout::Layout,
    path_files::{self, Resolved},
};
use link_platform::{
    fs,
    path_env::{self, Shells},
    paths::Roots,
    program, user_manager, user_path,
};

use crate::{context::Context, error::CliError};

/// Reads the shells' start files. Plans no edit if the owner or the place of the installation
/// forbids it. Also reports the files that cannot be edited, and what a person can do.
pub(crate) fn look(context: &Context, layout: &Layout) -> (StartFiles, Vec<String>) {
    let bin = context.roots.bin.clone();
    if !may_edit(context, layout) {
        let nothing = StartFiles { bin, ..StartFiles::default() };
        return (nothing, advice(context, layout).into_iter().collect());
    }
    let survey = shells(context).map(|shells| path_files::survey(layout, &shells));
    let survey = survey.unwrap_or_default();
    let said = survey.skipped.iter().map(|(path, why)| not_edited(path, why)).collect();
    let edits = survey.edits.iter().map(|edit| edit.path.clone()).collect();
    (StartFiles { bin, edits, unlisted: survey.unlisted(layout) }, said)
}

/// Edits the start files that do not yet put the command's folder on PATH, and lists the edited
/// files in the receipt. Returns whether a file was edited.
///
/// # Errors
/// If another installer runs, or the receipt cannot be read or written.
pub(crate) fn edit(context: &Context, layout: &Layout) -> Result<bool, CliError> {
    let Some(shells) = shells(context) else { return Ok(false) };
    let before = path_files::survey(layout, &shells).skipped;
    let edited = path_files::add(layout, &shells)?;
    let bin = context.roots.bin.display();
    for path in &edited.changed {
        context.output.say(&format!("put {bin} on PATH in {}", path.display()));
    }
    for (path, why) in edited.skipped.iter().filter(|skipped| !before.contains(skipped)) {
        context.output.say(&not_edited(path, why));
    }
    if !edited.changed.is_empty() {
        context.output.say(&resolution(layout, &shells));
    }
    Ok(!edited.changed.is_empty())
}

fn not_edited(path: &Path, why: &str) -> String {
    format!("{} was not edited: {why}", path.display())
}

fn may_edit(context: &Context, layout: &Layout) -> bool {
    let environment = &context.environment;
    !environment.leaves_path
        && (!environment.has_own_home || environment.wants_path)
        && (!is_first(context) || path_files::are_edited(layout))
}

/// Returns the shells of this user.
pub(crate) fn shells(context: &Context) -> Option<Shells> {
    let (home, config) = Roots::of_user().ok()?;
    let environment = &context.environment;
    Some(Shells {
        home,
        config,
        zsh_folder: environment.zsh_folder.clone(),
        login_shell: environment.shell.clone(),
        user_path: user_path::IS_THERE,
    })
}

/// Reports which program a new login shell runs as `link`.
fn resolution(layout: &Layout, shells: &Shells) -> String {
    let command = layout.command();
    let user = user_manager::user_name().unwrap_or_default();
    let asked = |name| path_files::resolve_in_login_shell(shells, &user, name);
    match asked("link") {
        Resolved::Found(found) if found == command => "a new login shell finds `link`".to_owned(),
        Resolved::Found(found) => {
            let other = command.with_file_name("linkctl");
            let is_ours = asked("linkctl") == Resolved::Found(other.clone());
            format!(
                "a new login shell runs {} as `link`; type {} there for this one",
                found.display(),
                if is_ours { "`linkctl`".to_owned() } else { other.display().to_string() }
            )
        }
        Resolved::Nothing => {
            format!("a new login shell does not find `link`; type {}", command.display())
        }
        Resolved::NotAsked(shell) => format!(
            "{} reads start files that were not edited: put {} first on its PATH, or type {}",
            shell.display(),
            layout.roots().bin.display(),
            command.display()
        ),
    }
}

/// Returns advice on the line that zsh needs to find the completions. None if it is already there.
pub(crate) fn zsh_completions(context: &Context) -> Option<String> {
    let environment = &context.environment;
    let is_zsh = environment.shell.as_ref().is_some_and(|shell| shell.ends_with("zsh"));
    if !is_zsh || environment.has_own_home {
        return None;
    }
    let folder = context.roots.data.parent()?.join("zsh/site-functions");
    let home = Roots::of_user().ok().map(|(home, _)| home);
    let file = environment.zsh_folder.clone().or(home)?.join(".zshrc");
    let line = missing_line(&file, &folder)?;
    let file = file.display();
    Some(format!("for completions in zsh, add this line to {file} before `compinit`: {line}"))
}

/// Returns the line that puts the folder of the completions on zsh's path. None if the start file has such a line.
fn missing_line(start_file: &Path, folder: &Path) -> Option<String> {
    let text = fs::read_to_string(start_file).unwrap_or_default();
    let mut lines = text.lines().map(str::trim_start).filter(|line| !line.starts_with('#'));
    let is_there = lines.any(|line| line.contains("zsh/site-functions"));
    (!is_there).then(|| format!("fpath=({} $fpath)", folder.display()))
}

/// Returns whether the current shell finds our `link` first.
fn is_first(context: &Context) -> bool {
    let (folders, bin) = (&context.surroundings.folders, &context.roots.bin);
    folders.iter().find(|folder| *folder == bin || folder.join(program::LINK).is_file())
        == Some(bin)
}

/// Returns advice on why the shell does not find the command by its name. None if it does.
fn advice(context: &Context, layout: &Layout) -> Option<String> {
    let bin = &context.roots.bin;
    let surroundings = &context.surroundings;
    let line = path_env::for_this_shell(&bin.display().to_string());
    match surroundings.first_with("link") {
        _ if is_first(context) => None,
        Some(first) if surroundings.folders.contains(bin) => Some(format!(
            "`link` in {} comes before {} on PATH; to change the order: {line}",
            first.display(),
            layout.command().display()
        )),
        Some(_) | None => {
            Some(format!("no start file of a shell was changed; to find `link` on PATH: {line}"))
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "tests write a temporary home and ask zsh")]

    use std::process::Command;

    use super::*;

    #[test]
    fn the_line_for_zsh_is_named_until_the_start_file_has_it() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join(".zshrc");
        let folder = home.path().join("share/zsh/site-functions");
        let line = format!("fpath=({} $fpath)", folder.display());
        assert_eq!(missing_line(&file, &folder).as_ref(), Some(&line), "there is no start file");
        std::fs::write(&file, format!("# {line}\nautoload -Uz compinit\n")).unwrap();
        assert_eq!(missing_line(&file, &folder).as_ref(), Some(&line), "it is a comment");
        std::fs::write(&file, format!("autoload -Uz compinit\n  {line}\ncompinit\n")).unwrap();
        assert_eq!(missing_line(&file, &folder), None);
    }

    #[test]
    fn a_login_shell_finds_the_completions_with_the_line_that_was_named() {
        if Command::new("zsh").arg("--version").output().is_err() {
            eprintln!("skipped: this machine has no zsh");
            return;
        }
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join(".zshrc");
        let folder = home.path().join("share/zsh/site-functions");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("_link"), "#compdef link\n_link() { : }\n").unwrap();
        let completes = |first: &str| {
            let setup = format!("{first}\nautoload -Uz compinit\ncompinit -u -D\n");
            std::fs::write(&file, setup).unwrap();
            let ran = Command::new("zsh")
                .args(["-l", "-i", "-c", "print -r -- ${_comps[link]}"])
                .env_clear()
                .env("HOME", home.path())
                .env("PATH", "/usr/bin:/bin")
                .output()
                .unwrap();
            String::from_utf8_lossy(&ran.stdout).trim() == "_link"
        };
        let line = missing_line(&file, &folder).expect("there is no start file");
        assert!(!completes(""), "the folder is found without the line");
        assert!(completes(&line));
        assert_eq!(missing_line(&file, &folder), None);
    }
}
