//! Adds a model from a file, which is uploaded, or from a URL, from which devices download it.

#![expect(clippy::disallowed_types, reason = "IO shell: reads the file to upload")]

use std::{
    io::{self, IsTerminal as _},
    path::Path,
    sync::Arc,
};

use link_client::{
    backend::{BackendClient, UploadSource},
    model_file, pin, remote,
};
use link_protocol::{
    backend_api::model::{CreateModel, LANGUAGE_MODEL, Model, ModelFacts},
    command::Sha256Hex,
    exit_code::ExitCode,
    file_name::FileName,
};
use sha2::{Digest as _, Sha256};
use tokio::io::AsyncReadExt as _;

use crate::{
    args::Add, command::model::catalogue, context::Context, error::CliError, error_code::ErrorCode,
    progress::Progress, prompt,
};

const CHUNK: usize = 1024 * 1024;

/// How a model is added.
#[derive(Clone, Copy)]
pub(in crate::command) struct Adding<'a> {
    pub(in crate::command) wish: &'a Add,
    /// Whether a model that needs more memory than this machine has is refused before any transfer.
    pub(in crate::command) must_fit: bool,
}

/// Adds the model in a file, unless the account already has a model with the same content.
///
/// # Errors
/// If the file cannot be read or the backend refuses it.
pub(super) async fn file(
    context: &Context,
    backend: &BackendClient,
    Adding { wish, must_fit }: Adding<'_>,
    path: &Path,
) -> Result<Model, CliError> {
    if wish.plugin == LANGUAGE_MODEL {
        let facts = check(path).await?;
        if must_fit {
            catalogue::ensure_fits(facts.memory_bytes)?;
        }
    }
    let measured = measure(context, path).await?;
    match same(backend, &measured.sha256).await? {
        Some(model) => Ok(model),
        None => send(context, backend, wish, path, measured).await,
    }
}

/// Adds the model at a URL. Its checksum is given, prompted for, or that of the current file.
///
/// # Errors
/// If the URL cannot be read or the backend refuses it.
pub(super) async fn address(
    context: &Context,
    backend: &BackendClient,
    adding: Adding<'_>,
    url: &str,
) -> Result<Model, CliError> {
    let request = from_url(context, adding, url).await?;
    if let Some(sha256) = &request.sha256
        && let Some(model) = same(backend, sha256).await?
    {
        return Ok(model);
    }
    Ok(backend.create_model(&request).await?)
}

/// Finds the account's model with this content.
async fn same(backend: &BackendClient, sha256: &Sha256Hex) -> Result<Option<Model>, CliError> {
    let is_same =
        |model: &Model| model.owned && model.ready && model.sha256.as_ref() == Some(sha256);
    Ok(backend.models().await?.into_iter().find(is_same))
}

/// Uploads the file that the person has named.
pub(super) async fn upload(
    context: &Context,
    backend: &BackendClient,
    arguments: &Add,
    path: &Path,
) -> Result<Model, CliError> {
    describe(arguments, &own_name(path))?;
    if arguments.plugin == LANGUAGE_MODEL {
        check(path).await?;
    }
    let measured = measure(context, path).await?;
    if arguments.sha256.as_ref().is_some_and(|given| *given != measured.sha256) {
        let message = format!("`{}` has the SHA-256 {}", path.display(), measured.sha256);
        return Err(CliError::new(
            ExitCode::ChecksumMismatch,
            ErrorCode::ChecksumMismatch,
            message,
        )
        .hint("this is not the file that --sha256 names; download the file again"));
    }
    send(context, backend, arguments, path, measured).await
}

/// Refuses a file that no engine could load, before reading all of it.
async fn check(path: &Path) -> Result<ModelFacts, CliError> {
    let metadata = tokio::fs::metadata(path).await.map_err(|error| unread(path, &error))?;
    if !metadata.is_file() {
        return Err(CliError::usage(format!("`{}` is not a file", path.display())));
    }
    let seen = model_file::look(path).await.map_err(|error| unread(path, &error))?;
    seen.map_err(|why| {
        let message = format!("`{}` cannot be served: {why}", path.display());
        CliError::new(ExitCode::Failed, ErrorCode::NotAModel, message).hint(why.hint())
    })
}

/// The size and checksum of a file.
struct Measured {
    sha256: Sha256Hex,
    size_bytes: u64,
}

async fn measure(context: &Context, path: &Path) -> Result<Measured, CliError> {
    let metadata = tokio::fs::metadata(path).await.map_err(|error| unread(path, &error))?;
    if !metadata.is_file() {
        return Err(CliError::usage(format!("`{}` is not a file", path.display())));
    }
    let hashed = hash(context, path).await;
    let (sha256, size_bytes) = hashed.map_err(|error| unread(path, &error))?;
    if size_bytes == 0 {
        return Err(CliError::usage(format!("`{}` is empty", path.display())));
    }
    Ok(Measured { sha256, size_bytes })
}

async fn send(
    context: &Context,
    backend: &BackendClient,
    arguments: &Add,
    path: &Path,
    Measured { sha256, size_bytes }: Measured,
) -> Result<Model, CliError> {
    let request = describe(arguments, &own_name(path))?;
    let request = CreateModel { sha256: Some(sha256), size_bytes: Some(size_bytes), ..request };
    let begun = begun(backend, arguments, &request).await?;
    let created = match begun {
        Some(model) => model,
        None => backend.create_model(&request).await?,
    };
    let source = UploadSource { path: path.to_owned(), size_bytes };
    let progress = Arc::new(Progress::start(context.output));
    let shown = Arc::clone(&progress);
    let sent = move |bytes| shown.show("uploading", bytes, size_bytes);
    let uploaded = backend.upload_model(created.model_id, &source, sent).await;
    progress.finish();
    match uploaded {
        Ok(model) => Ok(model),
        Err(error) if error.may_go_on() => Err(CliError::from(error)
            .context("the upload was cut")
            .hint("run the same command again within a day: the upload resumes where it stopped")),
        Err(error) => {
            // A model record without a file is useless: delete it if the backend still answers.
            let _kept = backend.delete_model(created.model_id).await;
            Err(CliError::from(error).context("the upload failed"))
        }
    }
}

/// Finds the model for which an upload of the same file was interrupted.
async fn begun(
    backend: &BackendClient,
    arguments: &Add,
    wish: &CreateModel,
) -> Result<Option<Model>, CliError> {
    let is_meant = |model: &Model| {
        model.owned
            && !model.ready
            && model.sha256 == wish.sha256
            && model.size_bytes == wish.size_bytes
            && (model.plugin == wish.plugin && model.file_name == wish.file_name)
            && (model.name == wish.name || arguments.name.is_none())
            && (model.shared || !wish.shared)
    };
    Ok(backend.models().await?.into_iter().find(is_meant))
}

fn own_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn unread(path: &Path, error: &io::Error) -> CliError {
    let message = format!("failed to read `{}`: {error}", path.display());
    CliError::new(ExitCode::CannotWrite, ErrorCode::File, message)
}

async fn from_url(
    context: &Context,
    Adding { wish: arguments, must_fit }: Adding<'_>,
    url: &str,
) -> Result<CreateModel, CliError> {
    let last = url.split(['?', '#']).next().and_then(|path| path.rsplit('/').next());
    let request = describe(arguments, last.unwrap_or_default())?;
    let size = match arguments.size {
        Some(size) => Some(size),
        None => remote::size_of(url).await?,
    };
    // A model needs at least as much memory as its file has bytes.
    let weigh = |size| match arguments.plugin.as_str() {
        LANGUAGE_MODEL => catalogue::weigh(context, size, must_fit),
        _ => Ok(()),
    };
    size.map_or(Ok(()), weigh)?;
    let asked = match &arguments.sha256 {
        Some(sha256) => Some(sha256.clone()),
        None => ask_checksum(url)?,
    };
    let (sha256, size_bytes) = match (asked, size) {
        (Some(sha256), Some(size)) => (sha256, size),
        (Some(_), None) => return Err(size_unknown(url)),
        (None, _) => pinned(context, arguments, url).await?,
    };
    if size.is_none() {
        weigh(size_bytes)?;
    }
    let (url, sha256) = (Some(url.to_owned()), Some(sha256));
    Ok(CreateModel { url, sha256, size_bytes: Some(size_bytes), ..request })
}

fn size_unknown(url: &str) -> CliError {
    let message = format!("the server does not state the size of {url}");
    CliError::new(ExitCode::DownloadFailed, ErrorCode::SizeUnknown, message)
        .hint("give the size with --size")
}

/// Prompts for the checksum until it is one. None without a terminal, or for an empty line.
fn ask_checksum(url: &str) -> Result<Option<Sha256Hex>, CliError> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Ok(None);
    }
    let question = format!("SHA-256 of {url} (empty: pin what is there now): ");
    prompt::ask_line(&question, |line| match line {
        "" => Ok(None),
        digits => digits.parse().map(Some).map_err(|_invalid| {
            "this is not a SHA-256, which has 64 hexadecimal digits".to_owned()
        }),
    })
}

/// Reads the file at a URL, and reports that the model is pinned to its checksum.
async fn pinned(
    context: &Context,
    arguments: &Add,
    url: &str,
) -> Result<(Sha256Hex, u64), CliError> {
    let progress = Progress::start(context.output);
    let found =
        pin::pin(url, |done, total| progress.show("reading the file once", done, total)).await;
    progress.finish();
    let found = found.map_err(|why| {
        let message = format!("cannot read {url}: {why}");
        CliError::new(ExitCode::DownloadFailed, ErrorCode::Pin, message).hint(
                "check the URL and the network; with --sha256 and --size, `link model add --url URL` adds the model without reading the file",
            )
    })?;
    if let (Some(Err(why)), LANGUAGE_MODEL) = (&found.seen, arguments.plugin.as_str()) {
        let message = format!("{url} cannot be served: {why}");
        let error = CliError::new(ExitCode::Failed, ErrorCode::NotAModel, message);
        return Err(error.hint(why.hint()));
    }
    context.output.say(&format!(
        "no checksum was given: pinned what is there now, SHA-256 {}; any other file is refused \
         from now on",
        found.sha256
    ));
    Ok((found.sha256, found.size_bytes))
}

/// Describes the model by the arguments and, if they leave something out, by the file name.
fn describe(arguments: &Add, own_name: &str) -> Result<CreateModel, CliError> {
    let file_name: FileName = match &arguments.file_name {
        Some(name) => name.clone(),
        None => own_name.parse().map_err(|error| {
            CliError::usage(format!("its file name cannot be used on every device: {error}"))
                .hint("choose another name with --file-name")
        })?,
    };
    let name = arguments.name.clone().unwrap_or_else(|| {
        let whole = file_name.as_str();
        whole.rsplit_once('.').map_or(whole, |(stem, _)| stem).to_owned()
    });
    Ok(CreateModel {
        name,
        file_name,
        url: None,
        sha256: arguments.sha256.clone(),
        size_bytes: None,
        plugin: arguments.plugin.clone(),
        shared: arguments.shared,
    })
}

async fn hash(context: &Context, path: &Path) -> io::Result<(Sha256Hex, u64)> {
    let mut file = tokio::fs::File::open(path).await?;
    let total = file.metadata().await?.len();
    let progress = Progress::start(context.output);
    let (mut hasher, mut buffer, mut done) = (Sha256::new(), vec![0; CHUNK], 0_u64);
    loop {
        let read = file.read(&mut buffer).await?;
        if read == 0 {
            return Ok((Sha256Hex::from_digest(&hasher.finalize()), done));
        }
        hasher.update(&buffer[..read]);
        done += read as u64;
        progress.show("checking", done, total);
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::args::{Arguments, Command, ModelCommand};

    #[test]
    fn a_model_is_named_after_its_file() {
        let request = describe(&add("./x"), "Smol 135M.Q4_1.gguf").unwrap();
        assert_eq!(request.name, "Smol 135M.Q4_1");
        assert_eq!(request.file_name.as_str(), "Smol 135M.Q4_1.gguf");
    }

    #[test]
    fn an_unsafe_file_name_is_refused_before_anything_is_sent() {
        let error = describe(&add("./x"), "..").unwrap_err();
        assert_eq!(error.exit, ExitCode::Usage);
        assert!(error.hint.is_some_and(|hint| hint.contains("--file-name")));
    }

    fn add(file: &str) -> Add {
        let arguments = Arguments::try_parse_from(["link", "model", "add", file]).unwrap();
        let Command::Model(ModelCommand::Add(add)) = arguments.command else {
            panic!("{arguments:?}")
        };
        add
    }
}
