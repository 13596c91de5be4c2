//! Puts the `link` command on PATH, reports which program a new shell runs for that name, and loads the completions from
//! a profile of PowerShell if its owner wants it.

use std::path::Path;

use link_installer::{
    decide::plan::device::StartFiles,
    layout::Layout,
    path_files::{self, Edited, Resolved},
};
use link_platform::{
    fs,
    path_env::{self, Shells, StartFile},
    paths::Roots,
    program, user_manager, user_path,
};

use crate::{context::Context, error::CliError};

/// Reads the shells' start files. Plans no edit if the owner or the place of the installation
/// forbids it. Also reports the files that cannot be edited, and what a person can do.
pub(crate) fn look(context: &Context, layout: &Layout) -> (StartFiles, Vec<String>) {
    let (files, profiles) = places(context, layout);
    let is_profile = |path: &Path| profiles.iter().any(|file| file.path == path);
    let skips_path = files.is_empty();
    let survey = path_files::survey(layout, [files, profiles.clone()].concat());
    let mut said: Vec<_> =
        survey.skipped.iter().map(|(path, why)| not_edited(layout, &profiles, path, why)).collect();
    said.extend(advice(context, layout).filter(|_| skips_path));
    let named = context.environment.power_shell_profile.iter();
    said.extend(named.filter(|path| !is_profile(path)).map(|path| {
        let why = "LINK_HOME is set, and other users may be able to write there";
        format!("{} was not changed: {why}", path.display())
    }));
    let edits = survey.edits.iter().map(|edit| edit.path.clone());
    let (profile, edits): (Vec<_>, Vec<_>) = edits.partition(|path| is_profile(path));
    let start_files = StartFiles {
        bin: context.roots.bin.clone(),
        edits,
        profile: profile.into_iter().next(),
        unlisted: survey.unlisted(layout),
    };
    (start_files, said)
}

/// Edits the start files that do not yet put the command's folder on PATH, and lists the edited
/// files in the receipt. Returns whether a file was edited.
///
/// # Errors
/// If another installer runs, or the receipt cannot be read or written.
pub(crate) fn edit(context: &Context, layout: &Layout) -> Result<bool, CliError> {
    let (files, _) = places(context, layout);
    let edited = add(context, layout, files, &[])?;
    let bin = context.roots.bin.display();
    for path in &edited.changed {
        context.output.say(&format!("put {bin} on PATH in {}", path.display()));
    }
    if !edited.changed.is_empty()
        && let Some(shells) = shells(context)
    {
        context.output.say(&resolution(layout, &shells));
    }
    Ok(!edited.changed.is_empty())
}

/// Has the profile of PowerShell that the owner has named load the completions. Returns whether it does.
///
/// # Errors
/// If another installer runs, or the receipt cannot be read or written.
pub(crate) fn load_completions(context: &Context, layout: &Layout) -> Result<bool, CliError> {
    let (_, profiles) = places(context, layout);
    let edited = add(context, layout, profiles.clone(), &profiles)?;
    for path in &edited.changed {
        let path = path.display();
        context.output.say(&format!("{path} loads the completions in a new window of PowerShell"));
    }
    Ok(edited.skipped.is_empty())
}

/// Edits `files`, and says which of them could not be edited although it seemed so before.
fn add(
    context: &Context,
    layout: &Layout,
    files: Vec<StartFile>,
    profiles: &[StartFile],
) -> Result<Edited, CliError> {
    let before = path_files::survey(layout, files.clone()).skipped;
    let edited = path_files::add(layout, files)?;
    for (path, why) in edited.skipped.iter().filter(|skipped| !before.contains(skipped)) {
        context.output.say(&not_edited(layout, profiles, path, why));
    }
    Ok(edited)
}

/// Returns the places to edit: those that put the command on PATH, unless the owner or the place of the installation
/// forbids it, and the profile of PowerShell that the owner has named. On Windows the folder of an own home may be one
/// that other users can write to, and a profile must not run what they put there.
fn places(context: &Context, layout: &Layout) -> (Vec<StartFile>, Vec<StartFile>) {
    let Some(shells) = shells(context) else { return (Vec::new(), Vec::new()) };
    let mut files = path_files::of_path(&shells);
    if !may_edit(context, layout, &files) {
        files.clear();
    }
    let is_private = !context.environment.has_own_home || !user_path::IS_THERE;
    let profiles = path_env::completion_files(&shells);
    (files, profiles.into_iter().filter(|_| is_private).collect())
}

fn not_edited(layout: &Layout, profiles: &[StartFile], path: &Path, why: &str) -> String {
    let path_and_reason = format!("{} was not edited: {why}", path.display());
    if profiles.iter().any(|file| file.path == path) {
        let line = path_env::for_a_profile(&layout.completions().display().to_string());
        return format!(
            "{path_and_reason}; to complete in PowerShell, add this line to it: {line}"
        );
    }
    path_and_reason
}

fn may_edit(context: &Context, layout: &Layout, files: &[StartFile]) -> bool {
    let environment = &context.environment;
    !environment.leaves_path
        && (!environment.has_own_home || environment.wants_path)
        && (!is_first(context) || path_files::are_edited(layout, files))
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
        power_shell: environment.power_shell_profile.clone(),
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
        Some(_) | None => Some(format!("PATH was not changed; to find `link` on it: {line}")),
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
