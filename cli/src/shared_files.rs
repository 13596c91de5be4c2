//! Manual pages and completions, generated from the definition of the command. They are put into the folders that `man`
//! and the shells search.

pub mod backend;

mod manual;
mod names;

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use clap::{Command, CommandFactory as _};
use clap_complete::{Generator as _, Shell};
use link_installer::{layout::COMPLETIONS, shared::SharedFile};
use link_protocol::exit_code::ExitCode;

use crate::{
    args::Arguments,
    called::NAMES,
    context::Context,
    error::CliError,
    error_code::{self, ErrorCode},
};

/// The shells for which completions are generated.
pub const SHELLS: &[Shell] = &[Shell::Bash, Shell::Zsh, Shell::Fish, Shell::PowerShell];

/// The contents of each file, by its name.
pub type Files = BTreeMap<String, Vec<u8>>;

/// Returns a page for `command` and for each visible subcommand.
///
/// # Errors
/// If a page cannot be rendered.
pub fn man_pages(command: &Command) -> io::Result<Files> {
    let mut command = command.clone().disable_help_subcommand(true);
    command.build();
    let mut files = Files::new();
    let mut pages = vec![command];
    while let Some(command) = pages.pop() {
        pages.extend(
            command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()).cloned(),
        );
        let page = clap_mangen::Man::new(command.clone());
        let mut contents = Vec::new();
        manual::write(&command, &mut contents)?;
        if page.get_filename() == "link.1" {
            contents.extend(error_section().into_bytes());
        }
        files.insert(page.get_filename(), contents);
    }
    Ok(files)
}

/// Returns the section of the manual page about the `error` field of an error document.
fn error_section() -> String {
    let codes = error_code::table().replace('-', "\\-");
    format!(
        ".SH \"ERROR CODES\"\n\
         With \\-\\-json an error is one JSON document on standard error. Its `error` is one of these \
         codes, or the code of a problem document of the backend.\n\
         .PP\n.nf\n{codes}.fi\n"
    )
}

/// Returns the completions of `shell` for the command `name`.
#[must_use]
pub fn completions(command: &Command, shell: Shell, name: &str) -> Vec<u8> {
    let mut command = command.clone();
    let mut contents = Vec::new();
    clap_complete::generate(shell, &mut command, name, &mut contents);
    // Only `link` has names to complete: `link-backend` names nothing of an account.
    if NAMES.contains(&name) { names::add(shell, name, contents) } else { contents }
}

/// Returns the shared files of this installation: in the user's folder of shared data, or in the installation's own
/// folder if it has one.
///
/// # Errors
/// If a page cannot be rendered.
pub(crate) fn of_installation(context: &Context) -> Result<Vec<SharedFile>, CliError> {
    let data = &context.roots.data;
    let base = match data.parent() {
        Some(parent) if !context.environment.has_own_home => parent.to_owned(),
        Some(_) | None => data.join("share"),
    };
    let command = Arguments::command();
    let pages = man_pages(&command).map_err(|error| {
        CliError::new(ExitCode::Failed, ErrorCode::ManPages, format!("no manual pages: {error}"))
    })?;
    let manual = base.join("man").join("man1");
    let page = |(name, contents)| SharedFile { path: manual.join(name), contents };
    let mut files: Vec<_> = pages.into_iter().map(page).collect();
    let other = b".so man1/link.1\n".to_vec();
    files.push(SharedFile { path: manual.join("linkctl.1"), contents: other });
    for shell in SHELLS {
        for name in NAMES {
            let Some(path) = place(&base, data, *shell, name) else { continue };
            files.push(SharedFile { path, contents: completions(&command, *shell, name) });
        }
    }
    Ok(files)
}

/// Returns the shared files of a backend whose programs are in `data`: in the folder of shared data beside it, or in
/// its own folder if the installation has one home folder.
pub(crate) fn of_backend(data: &Path, has_own_home: bool) -> Vec<SharedFile> {
    let base = match data.parent() {
        // The machine's programs are in `/usr/local/lib`, and its shared files in `/usr/local/share`.
        Some(parent) if !has_own_home && parent.ends_with("lib") => parent.with_file_name("share"),
        Some(parent) if !has_own_home => parent.to_owned(),
        Some(_) | None => data.join("share"),
    };
    let manual = base.join("man").join("man1");
    let page = |(name, contents): &(&str, &[u8])| SharedFile {
        path: manual.join(name),
        contents: contents.to_vec(),
    };
    let completion = |(shell, _, contents): &(Shell, &str, &[u8])| {
        let path = place(&base, data, *shell, backend::NAME)?;
        Some(SharedFile { path, contents: contents.to_vec() })
    };
    let pages = backend::PAGES.iter().map(page);
    pages.chain(backend::COMPLETIONS.iter().filter_map(completion)).collect()
}

/// Returns the path where `shell` looks for the completions of `name`. For PowerShell, which has no such folder, a
/// person's profile must load the file ([`link_platform::path_env::for_a_profile`]).
fn place(base: &Path, data: &Path, shell: Shell, name: &str) -> Option<PathBuf> {
    let folder = match shell {
        Shell::Bash => return Some(base.join("bash-completion/completions").join(name)),
        Shell::Zsh => base.join("zsh/site-functions"),
        Shell::Fish => base.join("fish/vendor_completions.d"),
        Shell::PowerShell => data.join(COMPLETIONS),
        Shell::Elvish | _ => return None,
    };
    Some(folder.join(shell.file_name(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command() -> Command {
        Command::new("link").version("1.3.0").about("Serves models").subcommand(
            Command::new("model")
                .subcommand(Command::new("list"))
                .subcommand(Command::new("secret").hide(true)),
        )
    }

    #[test]
    fn the_page_of_the_command_has_every_error_code() {
        let page = man_pages(&command()).unwrap().remove("link.1").unwrap();
        let page = String::from_utf8(page).unwrap().replace("\\-", "-");
        assert!(page.contains(&error_code::table()), "{page}");
    }

    #[test]
    fn every_shown_subcommand_has_a_page() {
        let files = man_pages(&command()).unwrap();
        let names: Vec<_> = files.keys().collect();
        assert_eq!(names, ["link-model-list.1", "link-model.1", "link.1"]);
    }

    #[test]
    fn the_files_of_a_backend_are_where_programs_of_its_kind_are_looked_for() {
        for (data, own, page, bash) in [
            (
                "/usr/local/lib/link-backend",
                false,
                "/usr/local/share/man/man1/link-backend.1",
                "/usr/local/share/bash-completion/completions/link-backend",
            ),
            (
                "/home/ada/.local/share/link-backend",
                false,
                "/home/ada/.local/share/man/man1/link-backend.1",
                "/home/ada/.local/share/bash-completion/completions/link-backend",
            ),
            (
                "/srv/link/backend",
                true,
                "/srv/link/backend/share/man/man1/link-backend.1",
                "/srv/link/backend/share/bash-completion/completions/link-backend",
            ),
        ] {
            let files = of_backend(Path::new(data), own);
            for wanted in [page, bash] {
                let found = files.iter().find(|file| file.path == Path::new(wanted));
                assert!(found.is_some_and(|file| !file.contents.is_empty()), "{wanted}");
            }
        }
    }

    #[test]
    fn every_shell_finds_both_names_where_it_looks() {
        let (base, data) = (Path::new("/share"), Path::new("/share/link"));
        let places = SHELLS.iter().flat_map(|shell| {
            NAMES.map(|name| place(base, data, *shell, name).unwrap().display().to_string())
        });
        assert_eq!(
            places.collect::<Vec<_>>(),
            [
                "/share/bash-completion/completions/link",
                "/share/bash-completion/completions/linkctl",
                "/share/zsh/site-functions/_link",
                "/share/zsh/site-functions/_linkctl",
                "/share/fish/vendor_completions.d/link.fish",
                "/share/fish/vendor_completions.d/linkctl.fish",
                "/share/link/completions/_link.ps1",
                "/share/link/completions/_linkctl.ps1",
            ]
        );
        let zsh = String::from_utf8(completions(&command(), Shell::Zsh, "linkctl")).unwrap();
        assert!(zsh.starts_with("#compdef linkctl"), "{zsh}");
    }
}
