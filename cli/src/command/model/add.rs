//! `link model add`: uploads a file, or names the address that devices fetch it from.

#![expect(clippy::disallowed_types, reason = "IO shell: reads the file to upload")]

use std::{io, path::Path, sync::Arc};

use link_client::{
    backend::{BackendClient, UploadSource},
    remote,
};
use link_protocol::{
    backend_api::model::{CreateModel, Model},
    command::Sha256Hex,
    exit_code::ExitCode,
    file_name::FileName,
};
use sha2::{Digest as _, Sha256};
use tokio::io::AsyncReadExt as _;

use crate::{
    args::Add, context::Context, error::CliError, error_code::ErrorCode, progress::Progress,
    session,
};

const CHUNK: usize = 1024 * 1024;

pub(super) async fn run(context: &Context, arguments: Add) -> Result<(), CliError> {
    let backend = session::logged_in(context)?;
    let model = match (&arguments.file, &arguments.url) {
        (Some(file), _) => upload(context, &backend, &arguments, file).await?,
        (None, Some(url)) => {
            let request = from_url(&arguments, url).await?;
            backend.create_model(&request).await?
        }
        (None, None) => return Err(CliError::usage("give a FILE or --url")),
    };
    context.output.say(&format!("added `{}`", model.name));
    context.output.data(&model, |model| model.model_id.to_string())
}

/// Adds the model of a file, unless a model of this account has the same content.
///
/// # Errors
/// When the file cannot be read or the backend refuses it.
pub(in crate::command) async fn file(
    context: &Context,
    backend: &BackendClient,
    path: &Path,
) -> Result<Model, CliError> {
    let measured = measure(context, path).await?;
    let known = backend.models().await?.into_iter().find(|model| {
        model.owned && model.ready && model.sha256.as_ref() == Some(&measured.sha256)
    });
    match known {
        Some(model) => Ok(model),
        None => send(context, backend, &Add::of_file(path), path, measured).await,
    }
}

async fn upload(
    context: &Context,
    backend: &BackendClient,
    arguments: &Add,
    path: &Path,
) -> Result<Model, CliError> {
    describe(arguments, &own_name(path))?;
    let measured = measure(context, path).await?;
    send(context, backend, arguments, path, measured).await
}

/// What a file holds.
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
    let created = backend.create_model(&request).await?;
    let file = tokio::fs::File::open(path).await.map_err(|error| unread(path, &error))?;
    let source = UploadSource { reader: Box::pin(file.take(size_bytes)), size_bytes };
    let progress = Arc::new(Progress::start(context.output));
    let shown = Arc::clone(&progress);
    let sent = move |bytes| shown.show("uploading", bytes, size_bytes);
    let uploaded = backend.upload_model(created.model_id, source, sent).await;
    progress.finish();
    match uploaded {
        Ok(model) => Ok(model),
        Err(error) => {
            // A description without a file is of no use; it goes if the backend still listens.
            let _kept = backend.delete_model(created.model_id).await;
            Err(CliError::from(error).context("the upload failed"))
        }
    }
}

fn own_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn unread(path: &Path, error: &io::Error) -> CliError {
    let message = format!("failed to read `{}`: {error}", path.display());
    CliError::new(ExitCode::CannotWrite, ErrorCode::File, message)
}

async fn from_url(arguments: &Add, url: &str) -> Result<CreateModel, CliError> {
    let last = url.split(['?', '#']).next().and_then(|path| path.rsplit('/').next());
    let request = describe(arguments, last.unwrap_or_default())?;
    let size_bytes = match arguments.size {
        Some(size) => size,
        None => remote::size_of(url).await?.ok_or_else(|| {
            CliError::new(
                ExitCode::DownloadFailed,
                ErrorCode::SizeUnknown,
                format!("the server does not tell the size of {url}"),
            )
            .hint("give it with --size")
        })?,
    };
    Ok(CreateModel { url: Some(url.to_owned()), size_bytes: Some(size_bytes), ..request })
}

/// Describes the model by what was given and, for the rest, by the name of its file.
fn describe(arguments: &Add, own_name: &str) -> Result<CreateModel, CliError> {
    let file_name: FileName = match &arguments.file_name {
        Some(name) => name.clone(),
        None => own_name.parse().map_err(|error| {
            CliError::usage(format!("its file name cannot be used on every device: {error}"))
                .hint("give another one with --file-name")
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
