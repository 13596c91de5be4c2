//! Generates committed files from the product's own definitions: man pages, shell completions, the
//! OpenAPI documents, the schemas of both configurations, those of what `link` prints, and the reference of a plugin's
//! files.
//!
//! `--check` writes nothing, and names every missing, stale or surplus file.

#![expect(
    clippy::disallowed_methods,
    reason = "IO shell: writes generated files into the repository"
)]

mod documents;
mod plugin_reference;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use anyhow::Context as _;
use clap::CommandFactory as _;
use clap_complete::Generator as _;
use link_cli::shared_files;
use link_protocol::plugin::{Manifest, PROJECT_FILE};

/// Folders that contain only generated files.
const FOLDERS: &[&str] = &["completions", documents::FOLDER, "man"];
const API_DOCUMENT: &str = "docs/openapi.json";
const LOCAL_API_DOCUMENT: &str = "docs/local-api.json";
const CONFIG_SCHEMA: &str = "docs/agent.schema.json";
const BACKEND_SCHEMA: &str = "docs/backend.schema.json";

/// The contents of each file, by its path from the repository's root.
type Files = BTreeMap<String, Vec<u8>>;

/// Writes or checks every generated file under `root`, and returns a description of the result.
pub(crate) fn run(root: &Path, check: bool) -> anyhow::Result<String> {
    let wanted = generate(root)?;
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

fn generate(root: &Path) -> anyhow::Result<Files> {
    let mut files = Files::new();
    for (name, command) in
        [("link", link_cli::command()), ("link-backend", link_backend::args::Arguments::command())]
    {
        let pages = shared_files::man_pages(&command).context("failed to render the man pages")?;
        files.extend(pages.into_iter().map(|(name, page)| (format!("man/{name}"), page)));
        for shell in shared_files::SHELLS {
            let file = format!("completions/{}", shell.file_name(name));
            files.insert(file, shared_files::completions(&command, *shell, name));
        }
    }
    let document = link_backend::openapi_json();
    files.insert(API_DOCUMENT.to_owned(), format!("{}\n", document.trim_end()).into_bytes());
    let document = link_protocol::local_api::document();
    files.insert(LOCAL_API_DOCUMENT.to_owned(), document.into_bytes());
    files.insert(CONFIG_SCHEMA.to_owned(), agent_schema(root)?.into_bytes());
    let schema = link_backend::config::file::json_schema();
    files.insert(BACKEND_SCHEMA.to_owned(), schema.into_bytes());
    files.insert(plugin_reference::PATH.to_owned(), plugin_reference::page().into_bytes());
    files.extend(documents::files()?);
    Ok(files)
}

/// Returns the schema of the agent's configuration, with the settings of the plugins of this checkout.
fn agent_schema(root: &Path) -> anyhow::Result<String> {
    let mut schema: serde_json::Value =
        serde_json::from_str(&link_protocol::config::json_schema())?;
    let mut plugins = serde_json::Map::new();
    for plugin in plugins_of(root)? {
        let settings = plugin.adapter.settings.iter();
        let settings: serde_json::Map<_, _> =
            settings.map(|(name, setting)| (name.clone(), setting.json_schema())).collect();
        let schema = serde_json::json!({
            "type": "object",
            "description": format!("Settings of the plugin: {}", plugin.description),
            "properties": settings,
            "additionalProperties": false,
        });
        plugins.insert(plugin.id, schema);
    }
    schema["properties"]["components"]["properties"] = plugins.into();
    // The order must not depend on the features of other crates in the build.
    schema.sort_all_objects();
    Ok(format!("{schema:#}\n"))
}

/// Returns the plugins of this checkout, sorted by their folders.
fn plugins_of(root: &Path) -> anyhow::Result<Vec<Manifest>> {
    let folder = root.join("plugins");
    let entries = std::fs::read_dir(&folder).context("failed to list `plugins`")?;
    let mut folders: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    folders.retain(|folder| folder.join(PROJECT_FILE).is_file());
    folders.sort();
    let read = |folder: std::path::PathBuf| Ok(link_installer::plugins::read(&folder)?);
    folders.into_iter().map(read).collect()
}

/// Reads the committed contents of the wanted files, and all other files in their folders.
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

/// Returns the paths of the files that differ from `wanted` or are surplus.
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
    fn link_installs_every_page_and_completion_of_the_backend() {
        let made: Vec<String> = generate(crate::repository())
            .unwrap()
            .into_keys()
            .filter(|name| name.contains("link-backend"))
            .collect();
        let folder = |folder: &str, names: Vec<&str>| -> Vec<String> {
            names.into_iter().map(|name| format!("{folder}/{name}")).collect()
        };
        let pages = shared_files::backend::PAGES.iter().map(|(name, _)| *name).collect();
        let completions =
            shared_files::backend::COMPLETIONS.iter().map(|(_, name, _)| *name).collect();
        let mut installed = folder("man", pages);
        installed.extend(folder("completions", completions));
        installed.sort();
        assert_eq!(installed, made, "see cli/src/shared_files/backend.rs");
    }

    #[test]
    fn the_committed_files_are_up_to_date() {
        run(crate::repository(), true).unwrap();
    }
}
