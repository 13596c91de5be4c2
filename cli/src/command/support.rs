//! `link support`: one archive with what helps somebody else find a fault on this machine, without secrets.

mod contents;

use std::path::{Path, PathBuf};

use flate2::{Compression, write::GzEncoder};
use jiff::Timestamp;
use link_platform::fs;
use link_protocol::exit_code::ExitCode;
use schemars::JsonSchema;
use serde::Serialize;

use self::contents::Item;
use crate::{
    args::Support,
    context::{self, Context},
    error::CliError,
    error_code::ErrorCode,
    output::{Cell, View, bytes},
    prompt,
};

/// The mode of the files in the archive: only their owner reads them.
const MODE: u32 = 0o600;

/// What the archive holds.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Archive {
    /// The archive. Null if it was not written.
    file: Option<PathBuf>,
    contents: Vec<Content>,
}

/// A file in the archive.
#[derive(Debug, JsonSchema, Serialize)]
struct Content {
    name: String,
    bytes: usize,
    /// What it is, as text for a person.
    about: &'static str,
}

pub(super) async fn run(context: &Context, arguments: Support) -> Result<ExitCode, CliError> {
    let now = context::now();
    let items = contents::collect(context).await?;
    let list = items.iter().map(|item| Content {
        name: item.name.clone(),
        bytes: item.text.len(),
        about: item.about,
    });
    let mut archive = Archive { file: None, contents: list.collect() };
    if arguments.list {
        context.output.data(&archive, |archive| table(archive, &context.view()))?;
        return Ok(ExitCode::Success);
    }
    context.output.say(&table(&archive, &context.view()));
    let stamp = now.strftime("%Y%m%dT%H%M%SZ");
    let file = arguments.out.unwrap_or_else(|| format!("link-support-{stamp}.tar.gz").into());
    if file.exists() {
        let message = format!("`{}` exists already", file.display());
        return Err(CliError::new(ExitCode::CannotWrite, ErrorCode::File, message)
            .hint("remove it, or name another file with --out"));
    }
    let question = format!("Write these {} files to `{}`?", items.len(), file.display());
    if !arguments.yes && !prompt::confirm(&question)? {
        return Ok(ExitCode::Success);
    }
    let bytes = packed(&items, now).map_err(|error| unwritable(&file, &error))?;
    fs::write_private(&file, &bytes).map_err(|error| CliError::file(&error))?;
    context
        .output
        .say("read it before you give it away: secrets are removed, names and paths are not");
    archive.file = Some(file);
    context.output.data(&archive, |archive| {
        archive.file.as_ref().map(|file| file.display().to_string()).unwrap_or_default()
    })?;
    Ok(ExitCode::Success)
}

fn table(archive: &Archive, view: &View) -> String {
    let rows = archive.contents.iter().map(|content| {
        [content.name.clone(), bytes(content.bytes as u64), content.about.to_owned()]
            .map(Cell::Text)
    });
    view.table(["FILE", "SIZE", "WHAT IT IS"], rows)
}

/// Packs the items into a gzipped tar archive.
fn packed(items: &[Item], now: Timestamp) -> std::io::Result<Vec<u8>> {
    let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::default()));
    for item in items {
        let mut header = tar::Header::new_gnu();
        header.set_size(item.text.len() as u64);
        header.set_mode(MODE);
        header.set_mtime(u64::try_from(now.as_second()).unwrap_or_default());
        let path = Path::new("link-support").join(&item.name);
        tar.append_data(&mut header, path, item.text.as_bytes())?;
    }
    tar.into_inner()?.finish()
}

fn unwritable(file: &Path, error: &std::io::Error) -> CliError {
    let message = format!("failed to write `{}`: {error}", file.display());
    CliError::new(ExitCode::CannotWrite, ErrorCode::File, message)
}
