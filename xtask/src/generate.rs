//! Files that are made from the product's own definitions and committed: man pages, shell completions and the OpenAPI
//! document.
//!
//! `--check` writes nothing and names every file that is missing, stale or left over.

#![expect(
    clippy::disallowed_methods,
    reason = "IO shell: writes generated files into the repository"
)]

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use anyhow::Context as _;
use clap::Command;
use clap_complete::Shell;

use crate::product;

/// Folders that hold nothing but generated files.
const FOLDERS: &[&str] = &["completions", "man"];
const API_DOCUMENT: &str = "docs/openapi.json";
const SHELLS: &[Shell] = &[Shell::Bash, Shell::Zsh, Shell::Fish, Shell::PowerShell];

/// The name of each file, from the repository's root, and what it holds.
type Files = BTreeMap<String, Vec<u8>>;

/// Writes or checks every generated file under `root` and says what was done.
pub(crate) fn run(root: &Path, check: bool) -> anyhow::Result<String> {
    let wanted = generate()?;
    let present = read(root, &wanted)?;
    let stale = differences(&wanted, &present);
    if check {
        anyhow::ensure!(stale.is_empty(), "run `cargo xtask generate`: {}", stale.join(", "));
        return Ok(format!("generate: {} files are up to date", wanted.len()));
    }
    for path in &stale {
        let target = root.join(path);
        let done = match wanted.get(path) {
            Some(contents) => write(&target, contents),
            None => std::fs::remove_file(&target),
        };
        done.with_context(|| format!("failed to replace `{path}`"))?;
    }
    Ok(format!("generate: {} of {} files changed", stale.len(), wanted.len()))
}

fn generate() -> anyhow::Result<Files> {
    let mut files = Files::new();
    let command = product::command_line();
    man_pages(&command, &mut files).context("failed to render the man pages")?;
    completions(&command, &mut files);
    let document = product::api_document();
    files.insert(API_DOCUMENT.to_owned(), format!("{}\n", document.trim_end()).into_bytes());
    Ok(files)
}

/// One page for the command and one for each subcommand that is shown.
fn man_pages(command: &Command, files: &mut Files) -> std::io::Result<()> {
    let mut command = command.clone().disable_help_subcommand(true);
    command.build();
    let mut pages = vec![command];
    while let Some(command) = pages.pop() {
        pages.extend(
            command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()).cloned(),
        );
        let page = clap_mangen::Man::new(command);
        let mut contents = Vec::new();
        page.render(&mut contents)?;
        files.insert(format!("man/{}", page.get_filename()), contents);
    }
    Ok(())
}

fn completions(command: &Command, files: &mut Files) {
    for &shell in SHELLS {
        let mut command = command.clone();
        let name = command.get_name().to_owned();
        let mut contents = Vec::new();
        clap_complete::generate(shell, &mut command, &name, &mut contents);
        files.insert(format!("completions/{}", file_name(shell, &name)), contents);
    }
}

fn file_name(shell: Shell, command: &str) -> String {
    clap_complete::Generator::file_name(&shell, command)
}

/// The committed state of the wanted files and of everything beside them.
fn read(root: &Path, wanted: &Files) -> anyhow::Result<Files> {
    let mut names: BTreeSet<String> = wanted.keys().cloned().collect();
    for folder in FOLDERS {
        let Ok(entries) = std::fs::read_dir(root.join(folder)) else { continue };
        for entry in entries {
            let entry = entry.with_context(|| format!("failed to list `{folder}`"))?;
            names.insert(format!("{folder}/{}", entry.file_name().to_string_lossy()));
        }
    }
    Ok(names
        .into_iter()
        .filter_map(|name| Some((name.clone(), std::fs::read(root.join(&name)).ok()?)))
        .collect())
}

/// The files that are not as wanted, and those that nothing wants.
fn differences(wanted: &Files, present: &Files) -> Vec<String> {
    let stale = wanted.iter().filter(|(path, contents)| present.get(*path) != Some(contents));
    let left_over = present.iter().filter(|(path, _)| !wanted.contains_key(*path));
    stale.chain(left_over).map(|(path, _)| path.clone()).collect()
}

fn write(path: &Path, contents: &[u8]) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, contents)
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
    fn every_shown_subcommand_has_a_page() {
        let mut files = Files::new();
        man_pages(&command(), &mut files).unwrap();
        assert_eq!(
            files.keys().collect::<Vec<_>>(),
            ["man/link-model-list.1", "man/link-model.1", "man/link.1"]
        );
    }

    #[test]
    fn every_shell_has_its_completions() {
        let mut files = Files::new();
        completions(&command(), &mut files);
        let names: Vec<_> = files.keys().collect();
        assert_eq!(
            names,
            [
                "completions/_link",
                "completions/_link.ps1",
                "completions/link.bash",
                "completions/link.fish"
            ]
        );
    }

    #[test]
    fn names_what_is_missing_stale_and_left_over() {
        let files = |list: &[(&str, &str)]| -> Files {
            list.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect()
        };
        let wanted = files(&[("man/a", "1"), ("man/b", "1"), ("man/c", "1")]);
        let present = files(&[("man/a", "1"), ("man/b", "2"), ("man/d", "1")]);
        assert_eq!(differences(&wanted, &present), ["man/b", "man/c", "man/d"]);
    }

    #[test]
    fn the_committed_files_are_up_to_date() {
        run(crate::repository(), true).unwrap();
    }
}
