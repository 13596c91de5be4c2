//! Puts the `link` command on PATH, and says what a person who types its name gets.

use std::path::{Path, PathBuf};

use link_installer::{
    layout::Layout,
    path_files::{self, Resolved},
};
use link_platform::{path_env::Shells, paths::Roots, session};

use crate::{context::Context, error::CliError};

/// Edits the start files of the shells, unless the owner or the place of the installation forbids.
///
/// # Errors
/// When another installer is at work, or the receipt cannot be read or written.
pub(crate) fn set_up(context: &Context, layout: &Layout) -> Result<(), CliError> {
    if !may_edit(context, layout) {
        if let Some(advice) = advice(context, layout) {
            context.output.say(&advice);
        }
        return Ok(());
    }
    let Some(shells) = shells(context) else { return Ok(()) };
    let edited = path_files::add(layout, &shells)?;
    let bin = context.roots.bin.display();
    for path in &edited.changed {
        context.output.say(&format!("put {bin} on PATH in {}", path.display()));
    }
    for (path, why) in &edited.skipped {
        context.output.say(&format!("{} was not edited: {why}", path.display()));
    }
    if !edited.changed.is_empty() {
        context.output.say(&resolution(layout, &shells));
    }
    Ok(())
}

/// Says what [`set_up`] would do.
pub(crate) fn would_set_up(context: &Context, layout: &Layout) -> Vec<String> {
    let shells = shells(context).filter(|_| may_edit(context, layout));
    let edits = shells.map(|shells| path_files::plan(layout, &shells).edits).unwrap_or_default();
    let bin = context.roots.bin.display();
    edits.iter().map(|edit| format!("put {bin} on PATH in {}", edit.path.display())).collect()
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
    })
}

/// Says what a fresh login shell takes for `link`.
fn resolution(layout: &Layout, shells: &Shells) -> String {
    let command = layout.command();
    let user = session::user_name().unwrap_or_default();
    match path_files::resolve_in_login_shell(shells, &user) {
        Resolved::Found(found) if found == command => {
            "a new login shell finds `link`; in this one, call it by its path or log in again"
                .to_owned()
        }
        Resolved::Found(found) => format!(
            "a new login shell takes {} for `link`; ours are `linkctl` and {}",
            found.display(),
            command.display()
        ),
        Resolved::Nothing => {
            format!("a new login shell does not find `link`; call {}", command.display())
        }
        Resolved::NotAsked(shell) => format!(
            "{} reads start files that were not edited: put {} first on its PATH, or call {}",
            shell.display(),
            layout.roots().bin.display(),
            command.display()
        ),
    }
}

fn is_first(context: &Context) -> bool {
    first_with(&folders(context), "link").is_some_and(|first| first == context.roots.bin)
}

/// Says what keeps a person from calling the command by its name.
fn advice(context: &Context, layout: &Layout) -> Option<String> {
    let bin = &context.roots.bin;
    let folders = folders(context);
    let line = format!("export PATH=\"{}:$PATH\"", bin.display());
    match first_with(&folders, "link") {
        Some(first) if first == bin => None,
        Some(first) if folders.contains(bin) => Some(format!(
            "`link` in {} comes before {}; put ours first: {line}",
            first.display(),
            layout.command().display()
        )),
        Some(_) | None => {
            Some(format!("no PATH file was changed; to call `link` by its name: {line}"))
        }
    }
}

fn folders(context: &Context) -> Vec<PathBuf> {
    let path = context.environment.path.clone().unwrap_or_default();
    std::env::split_paths(&path).collect()
}

fn first_with<'a>(folders: &'a [PathBuf], name: &str) -> Option<&'a Path> {
    folders.iter().map(PathBuf::as_path).find(|folder| folder.join(name).is_file())
}
