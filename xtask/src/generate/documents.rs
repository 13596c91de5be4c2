//! Renders the schemas of the documents that `link` prints with `--json`, and the page that lists
//! them.
//!
//! Each command has its own file, which refers to no other file.

use anyhow::Context as _;
use link_cli::document::Document;

use super::Files;

/// The folder of the schemas.
pub(super) const FOLDER: &str = "docs/json";

const BEFORE: &str = "\
# The JSON output of `link`

With `--json`, a command of `link` prints one JSON document on stdout. This folder has a JSON Schema (draft 2020-12) for each command.
`cargo xtask generate` writes the folder from the code.

- A minor release may add members. Only a major release removes a member or changes its meaning or type. A reader must ignore
  unknown members; the schemas permit them.
- A member that is not `required` may be absent.
- If a schema has `anyOf`, the arguments of the command choose the form. For example, `model stop` prints the command to the device,
  with `--select` the started operation, with `--select --dry-run` its plan, and with `--select --wait` the result on each device.
- `status --watch`, `device list --watch` and `logs --follow` print one document for each line.
- If you decline a question, the command prints no document. Neither does `completions`, which prints a script.
- If a command fails, the last line of stderr is [an error](error.schema.json). If an operation fails on a device, stdout has the
  document too.
- `login --device` prints [a prompt](prompt.schema.json) as one line on stderr before it waits.

| command | schema | what the command does |
|---|---|---|
";

/// Returns the schema of each document, and the page that lists them.
///
/// # Errors
/// If a document belongs to no command.
pub(super) fn files() -> anyhow::Result<Files> {
    let commands = link_cli::command();
    let mut page = BEFORE.to_owned();
    let mut files = Files::new();
    for document in link_cli::documents() {
        let name = document.name();
        let about = about(&commands, name).with_context(|| {
            format!("a document belongs to `link {name}`, which does not exist")
        })?;
        page.push_str(&format!("| `{name}` | [{0}]({0}) | {about} |\n", document.file_name()));
        files.extend([file(&document)?]);
    }
    for document in link_cli::documents_on_stderr() {
        files.extend([file(&document)?]);
    }
    files.insert(format!("{FOLDER}/README.md"), page.into_bytes());
    Ok(files)
}

fn file(document: &Document) -> anyhow::Result<(String, Vec<u8>)> {
    let mut text = serde_json::to_string_pretty(&document.schema())?;
    text.push('\n');
    Ok((format!("{FOLDER}/{}", document.file_name()), text.into_bytes()))
}

/// Returns the description of the command with these words. None if there is no such command.
fn about(commands: &clap::Command, name: &str) -> Option<String> {
    let command =
        name.split(' ').try_fold(commands, |command, word| command.find_subcommand(word))?;
    Some(command.get_about()?.to_string())
}
