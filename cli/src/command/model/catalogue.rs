//! Models of a signed catalogue: searched, shown, and added by their URL.

use link_client::backend::BackendClient;
use link_installer::{
    catalogue::{Catalogues, shelves},
    layout::Layout,
};
use link_platform::memory;
use link_protocol::{
    backend_api::model::{CreateModel, Model},
    catalogue::{Catalogue, NamedModel},
    exit_code::ExitCode,
};

use crate::{
    args::Add,
    backend_login,
    command::release_check,
    context::Context,
    error::{CliError, chain},
    error_code::ErrorCode,
    output::bytes,
    resolve,
};

/// Runs `link model search`.
pub(super) async fn search(context: &Context, words: &[String]) -> Result<(), CliError> {
    let catalogue = read(context).await?;
    let found: Vec<_> = catalogue.search(words).collect();
    context.output.data(&found, |found| {
        if found.is_empty() {
            return "the catalogue has no such model".to_owned();
        }
        let rows = found.iter().map(|model| {
            let is_too_large = too_large(model.facts.memory_bytes).is_some();
            let note = if is_too_large { "too large for this machine" } else { "" };
            [
                model.name.clone().into(),
                bytes(model.size_bytes).into(),
                bytes(model.facts.memory_bytes).into(),
                model.facts.quantization.clone().unwrap_or_else(|| "-".to_owned()).into(),
                model.licence.clone().into(),
                model.summary.clone().into(),
                note.into(),
            ]
        });
        context.view().table(["NAME", "SIZE", "MEMORY", "KIND", "LICENCE", "", ""], rows)
    })
}

/// Shows a model of the catalogue.
pub(super) fn show(context: &Context, model: &NamedModel) -> Result<(), CliError> {
    context.output.data(model, |model| {
        let NamedModel { name, summary, licence, url, sha256, size_bytes, facts, .. } = model;
        format!(
            "Model   {name}, of the catalogue\nAbout   {summary}\nLicence {licence}\nFile    {url}\n\
             Size    {}\nSHA-256 {sha256}\n{}\nAdd it with `link model add {name}`, or run it with \
             `link run {name}`.",
            bytes(*size_bytes),
            super::about(facts),
        )
    })
}

/// Reads the catalogue.
///
/// # Errors
/// If there is no catalogue, or it is not trusted.
pub(super) async fn read(context: &Context) -> Result<Catalogue, CliError> {
    let (trust, layout) = (release_check::trust(context)?, Layout::new(context.roots.clone()));
    let identity = resolve::identity(context)?;
    let url = backend_login::backend_url(context, None).ok();
    let url = url.or_else(|| identity.as_ref().map(|identity| identity.backend_url.clone()));
    let is_own = |url: &str| {
        let own = identity.as_ref().map(|identity| identity.backend_url.trim_end_matches('/'));
        own == Some(url.trim_end_matches('/'))
    };
    // The keys that this device has pinned are those of its own backend.
    let backend = url.as_deref().map(|url| {
        let pinned = identity.as_ref().filter(|_| is_own(url));
        (url, pinned.map(|identity| identity.backend_keys.clone()).unwrap_or_default())
    });
    let shelves = shelves(&layout, backend);
    let known = context.roots.state.join("catalogue.json");
    let found = Catalogues { trust: &trust, shelves: &shelves, known }.find().await;
    found.map_err(|error| {
        CliError::new(error.exit_code(), ErrorCode::Catalogue, chain(&error)).hint(error.hint())
    })
}

/// Adds a model of the catalogue, unless the account already has a model with the same content.
pub(super) async fn add(
    context: &Context,
    backend: &BackendClient,
    wish: &Add,
    named: &NamedModel,
) -> Result<Model, CliError> {
    let is_same =
        |model: &Model| model.owned && model.ready && model.sha256.as_ref() == Some(&named.sha256);
    if let Some(known) = backend.models().await?.into_iter().find(is_same) {
        return Ok(known);
    }
    let NamedModel { name, licence, url, sha256, size_bytes, .. } = named;
    context.output.say(&format!(
        "`{name}` of the catalogue: {}, licence {licence}, needs about {} of memory",
        bytes(*size_bytes),
        bytes(named.facts.memory_bytes),
    ));
    let request = CreateModel {
        name: wish.name.clone().unwrap_or_else(|| name.clone()),
        file_name: wish.file_name.clone().unwrap_or_else(|| named.file_name.clone()),
        url: Some(url.clone()),
        sha256: Some(sha256.clone()),
        size_bytes: Some(*size_bytes),
        plugin: wish.plugin.clone(),
        shared: wish.shared,
    };
    Ok(backend.create_model(&request).await?)
}

/// Refuses a model that needs more memory than this machine has.
///
/// # Errors
/// If the model needs more memory than the machine is known to have.
pub(in crate::command) fn ensure_fits(memory_bytes: u64) -> Result<(), CliError> {
    match too_large(memory_bytes) {
        None => Ok(()),
        Some(message) => Err(CliError::new(ExitCode::Failed, ErrorCode::TooLarge, message)
            .hint("find a smaller model with `link model search`, or continue with --anyway")),
    }
}

/// Like [`ensure_fits`] with `fits`. Without it, only reports a model that is too large.
///
/// # Errors
/// If `fits` is set and the model needs more memory than the machine is known to have.
pub(super) fn weigh(context: &Context, memory_bytes: u64, fits: bool) -> Result<(), CliError> {
    if fits {
        return ensure_fits(memory_bytes);
    }
    if let Some(note) = too_large(memory_bytes) {
        context.output.say(&format!("note: {note}"));
    }
    Ok(())
}

/// Returns the message for a model that needs more memory than this machine has.
fn too_large(memory_bytes: u64) -> Option<String> {
    let total = memory::total_bytes().filter(|total| memory_bytes > *total)?;
    Some(format!(
        "the model needs about {} of memory, and this machine has {}",
        bytes(memory_bytes),
        bytes(total)
    ))
}
