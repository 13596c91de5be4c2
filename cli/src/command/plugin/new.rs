//! `link plugin new`: writes the folder of a new plugin, which works as it is.

#![expect(clippy::disallowed_methods, reason = "IO shell: writes the files of the plugin")]

use std::path::Path;

use link_platform::fs;
use link_protocol::{exit_code::ExitCode, plugin::is_id};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{args::PluginLanguage, context::Context, error::CliError, error_code::ErrorCode};

const PROJECT: &str = include_str!("template/plugin.toml");
const ADAPTER: &str = include_str!("template/adapter.toml");
const SAMPLES: &str = include_str!("template/check.toml");
const MODEL: &str = include_str!("template/sample.txt");
const INSTALL: &str = include_str!("../../../../plugins/language_model/install.sh");
const PYTHON: &str = include_str!("template/python/engine.py");
const PYTHON_README: &str = include_str!("template/python/README.md");
const RUST: &str = include_str!("template/rust/main.rs.template");
const RUST_PACKAGE: &str = include_str!("template/rust/Cargo.toml.template");
const RUST_README: &str = include_str!("template/rust/README.md");

/// The folder of a new plugin.
#[derive(Debug, JsonSchema, Serialize)]
pub(in crate::command) struct Made {
    plugin: String,
    /// The folder with `plugin.toml`.
    folder: String,
    /// The files that were written.
    files: Vec<String>,
}

/// A file of a new plugin.
struct File {
    path: &'static str,
    text: String,
    is_program: bool,
}

pub(super) fn run(
    context: &Context,
    place: &Path,
    language: PluginLanguage,
) -> Result<(), CliError> {
    let name = place.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if !is_id(name) {
        let message = format!("`{name}` cannot be the id of a plugin");
        let hint = "use 1 to 48 of a to z, 0 to 9 and _, beginning with a letter";
        return Err(CliError::usage(message).hint(hint));
    }
    if place.exists() {
        let message = format!("`{}` exists already", place.display());
        return Err(CliError::new(ExitCode::Usage, ErrorCode::File, message)
            .hint("name another folder, or delete this one"));
    }
    let engine = format!("{}-engine", name.replace('_', "-"));
    let mut written = Vec::new();
    for File { path, text, is_program } in files(language) {
        let path = path.replace("@ENGINE@", &engine);
        let text = text.replace("@ID@", name).replace("@ENGINE@", &engine);
        write(&place.join(&path), &text, is_program)?;
        written.push(path);
    }
    let (folder, next) = match language {
        PluginLanguage::Python => (place.to_owned(), String::new()),
        PluginLanguage::Rust => {
            let at = place.display();
            let plugin = place.join("plugin");
            let build = format!(
                "`cargo build --release --manifest-path {at}/Cargo.toml` and `cp \
                 {at}/target/release/{engine} {at}/plugin/`, then "
            );
            (plugin, build)
        }
    };
    context.output.say(&format!(
        "wrote the plugin `{name}`; next: {next}`link plugin check {}`",
        folder.display()
    ));
    let made =
        Made { plugin: name.to_owned(), folder: folder.display().to_string(), files: written };
    context.output.data(&made, |made| made.files.join("\n"))
}

fn files(language: PluginLanguage) -> Vec<File> {
    let file = |path, text: &str| File { path, text: text.to_owned(), is_program: false };
    let program = |path, text: &str| File { path, text: text.to_owned(), is_program: true };
    match language {
        PluginLanguage::Python => vec![
            file("README.md", PYTHON_README),
            file("plugin.toml", PROJECT),
            file("adapter.toml", ADAPTER),
            file("check.toml", SAMPLES),
            file("sample.txt", MODEL),
            program("install.sh", INSTALL),
            program("@ENGINE@", PYTHON),
        ],
        PluginLanguage::Rust => vec![
            file("README.md", RUST_README),
            file("Cargo.toml", RUST_PACKAGE),
            file("src/main.rs", RUST),
            file("plugin/plugin.toml", PROJECT),
            file("plugin/adapter.toml", ADAPTER),
            file("plugin/check.toml", SAMPLES),
            file("plugin/sample.txt", MODEL),
            program("plugin/install.sh", INSTALL),
        ],
    }
}

fn write(path: &Path, text: &str, is_program: bool) -> Result<(), CliError> {
    let hint = "choose a folder that you may write to";
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| {
            let message = format!("failed to create `{}`: {error}", folder.display());
            CliError::new(ExitCode::CannotWrite, ErrorCode::File, message).hint(hint)
        })?;
    }
    let written = match is_program {
        true => fs::write_program(path, text.as_bytes()),
        false => fs::write_atomic(path, text.as_bytes()),
    };
    written.map_err(|error| CliError::file(&error).hint(hint))
}
