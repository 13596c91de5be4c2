//! Finds a model by its name, in this order: the account's own models, shared models as
//! `publisher/name`, the catalogue, `hf:owner/repo/file`, a URL, a file. A text that can only be a
//! path names a file.

use std::path::Path;

use link_client::backend::BackendClient;
use link_protocol::{backend_api::model::Model, exit_code::ExitCode};

use crate::{
    args::Add,
    backend_login,
    command::model::{
        add::{self, Adding},
        catalogue,
    },
    context::Context,
    error::CliError,
    error_code::ErrorCode,
    resolve,
};

/// The address of the Hugging Face hub, for downloads of files.
const HUB: &str = "https://huggingface.co";

/// What the text of a model's name refers to.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Called {
    /// The text can only be the path of a file.
    File,
    Address(String),
    Name,
}

/// Runs `link model add`.
pub(super) async fn add(context: &Context, arguments: Add) -> Result<(), CliError> {
    let backend = backend_login::logged_in(context)?;
    let adding = Adding { wish: &arguments, must_fit: false };
    let model = match (&arguments.file, &arguments.url) {
        (Some(path), _) if path.is_file() => {
            add::upload(context, &backend, &arguments, path).await?
        }
        (Some(path), _) => find(context, &backend, &path.to_string_lossy(), adding).await?,
        (None, Some(url)) => add::address(context, &backend, adding, url).await?,
        (None, None) => return Err(CliError::usage("give a NAME, a FILE or --url")),
    };
    context.output.say(&format!("added `{}`", model.name));
    context.output.data(&model, |model| model.model_id.to_string())
}

/// Finds the model with this name, and adds it if the account does not have it.
///
/// # Errors
/// If nothing has this name, or the model cannot be added.
pub(in crate::command) async fn find(
    context: &Context,
    backend: &BackendClient,
    named: &str,
    adding: Adding<'_>,
) -> Result<Model, CliError> {
    let unknown = match called(named)? {
        Called::File => return add::file(context, backend, adding, Path::new(named)).await,
        Called::Address(url) => return add::address(context, backend, adding, &url).await,
        Called::Name => match resolve::model(backend, named).await {
            Err(error) if error.is(ErrorCode::UnknownName) => error,
            found => return found,
        },
    };
    let catalogue = match named.contains('/') {
        true => None,
        false => Some(catalogue::read(context).await),
    };
    if let Some(Ok(catalogue)) = &catalogue
        && let Some(model) = catalogue.find(named)
    {
        catalogue::weigh(context, model.facts.memory_bytes, adding.must_fit)?;
        return catalogue::add(context, backend, adding.wish, model).await;
    }
    if Path::new(named).is_file() {
        return add::file(context, backend, adding, Path::new(named)).await;
    }
    let catalogue = match catalogue {
        Some(Err(refused)) if refused.exit == ExitCode::SignatureInvalid => return Err(refused),
        Some(Err(unread)) => unread.message,
        Some(Ok(_)) | None => "`link model search` lists the catalogue".to_owned(),
    };
    let hint = unknown.hint.clone().unwrap_or_default();
    Err(unknown.hint(format!("{hint}; {catalogue}; write a file as a path: `./FILE`")))
}

fn called(named: &str) -> Result<Called, CliError> {
    if let Some(place) = named.strip_prefix("hf:") {
        return hub(place).map(Called::Address).ok_or_else(|| {
            CliError::usage(format!("`{named}` does not have the form `hf:owner/repo/file.gguf`"))
        });
    }
    if named.starts_with("https://") || named.starts_with("http://") {
        return Ok(Called::Address(named.to_owned()));
    }
    let is_path =
        Path::new(named).is_absolute() || named.starts_with("./") || named.starts_with("../");
    Ok(if is_path { Called::File } else { Called::Name })
}

/// Returns the URL of a file on the hub, given `owner/repo/file`.
fn hub(place: &str) -> Option<String> {
    let is_plain = |part: &str| {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        !part.is_empty() && part != "." && part != ".." && part.bytes().all(fits)
    };
    let parts: Vec<&str> = place.split('/').collect();
    let (owner, repository, file) = match parts.as_slice() {
        [owner, repository, file @ ..] if !file.is_empty() => (owner, repository, file.join("/")),
        _ => return None,
    };
    parts
        .iter()
        .all(|part| is_plain(part))
        .then(|| format!("{HUB}/{owner}/{repository}/resolve/main/{file}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_a_file_or_an_address_only_where_it_can_be_nothing_else() {
        let address = |url: &str| Called::Address(url.to_owned());
        for (named, meant) in [
            ("smollm", Called::Name),
            ("smollm2:135m", Called::Name),
            ("bob/llama", Called::Name),
            ("tiny.gguf", Called::Name),
            ("./tiny.gguf", Called::File),
            ("../models/tiny.gguf", Called::File),
            ("/srv/tiny.gguf", Called::File),
            ("https://models.example/a.gguf", address("https://models.example/a.gguf")),
            ("hf:o/r/a.gguf", address("https://huggingface.co/o/r/resolve/main/a.gguf")),
            ("hf:o/r/b/a.gguf", address("https://huggingface.co/o/r/resolve/main/b/a.gguf")),
        ] {
            assert_eq!(called(named), Ok(meant), "{named}");
        }
        for bad in ["hf:", "hf:o/r", "hf:o//a", "hf:o/r/../a", "hf:o/r/a b", "hf:o/r/a?x=1"] {
            assert!(called(bad).is_err(), "{bad}");
        }
    }
}
