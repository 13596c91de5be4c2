//! `link plugin install`: from a folder, from a signed archive, or by the id of a published plugin.

use std::path::Path;

use link_client::transfer::TransferError;
use link_installer::{
    owner_keys::OwnerKeys,
    plugins::{ArchiveError, Named, NamedError, Place, Plugins, VerifiedArchive},
};
use link_platform::fs;
use link_protocol::{
    exit_code::ExitCode, plugin::is_id, signed_document::RefusedDocument, signing::Untrusted,
};

use super::{explain, show};
use crate::{
    command::{published, release_check},
    context::Context,
    error::{CliError, chain},
    error_code::ErrorCode,
};

/// The folder of the archive that is being installed, in the state folder.
const DOWNLOADED: &str = "plugin-download";

pub(super) async fn run(
    context: &Context,
    from: &Path,
    source: Option<&str>,
) -> Result<(), CliError> {
    let id = from.to_str().filter(|text| is_id(text));
    match (id, source) {
        (Some(id), Some(_)) => by_id(context, id, source).await,
        (None, Some(_)) => {
            Err(CliError::usage("--source applies to the id of a plugin, such as `my_plugin`"))
        }
        (_, None) if from.is_file() => archive(context, from),
        (_, None) if from.exists() => folder(context, from),
        (Some(id), None) => by_id(context, id, None).await,
        (None, None) => {
            let message = format!("`{}` does not exist", from.display());
            Err(CliError::new(ExitCode::Usage, ErrorCode::File, message)
                .hint("give the folder of a plugin, or an archive with its signature beside it"))
        }
    }
}

async fn by_id(context: &Context, id: &str, source: Option<&str>) -> Result<(), CliError> {
    let trust = release_check::trust(context)?;
    let owner_keys = OwnerKeys::of_plugins(&context.roots.config);
    let sources = published::sources(context, source)?;
    let place = context.roots.state.join(DOWNLOADED);
    let _one_at_a_time = lock(&place)?;
    // A download that was cut short has left this folder behind.
    fs::remove_dir(&place).map_err(|error| CliError::file(&error))?;
    fs::create_private_dir(&place).map_err(|error| CliError::file(&error))?;
    let named = Named { id, trust: &trust, owner_keys: &owner_keys, sources: &sources };
    let installed = match named.download(&place).await {
        Ok(path) => archive(context, &path),
        Err(error) => Err(unavailable(error)),
    };
    fs::remove_dir(&place).map_err(|error| CliError::file(&error))?;
    installed
}

fn lock(place: &Path) -> Result<fs::Lock, CliError> {
    let file = place.with_extension("lock");
    if let Some(folder) = file.parent() {
        fs::create_private_dir(folder).map_err(|error| CliError::file(&error))?;
    }
    let lock = fs::try_lock(&file).map_err(|error| CliError::file(&error))?;
    lock.ok_or_else(|| {
        let message = "another command downloads a plugin";
        CliError::new(ExitCode::Busy, ErrorCode::Busy, message).hint("retry in a moment")
    })
}

/// Explains why a published plugin is not downloaded.
fn unavailable(error: NamedError) -> CliError {
    let message = chain(&error);
    let (exit, code, hint) = match error {
        NamedError::Archive(ArchiveError::Name { .. }) => (
            ExitCode::SignatureInvalid,
            ErrorCode::SignatureInvalid,
            "nothing was installed; tell the publisher, who makes these files with `link plugin pack`",
        ),
        NamedError::Archive(error) => return refuse(error),
        NamedError::NoSource | NamedError::Nowhere { .. } => (
            ExitCode::Failed,
            ErrorCode::UnknownName,
            "name the publisher's folder with --source URL, or give a folder or an archive of the plugin",
        ),
        NamedError::Source(error) => (
            error.exit_code(),
            ErrorCode::Download,
            "nothing was installed; check the address and the network, then retry",
        ),
        NamedError::Download(TransferError::Altered(_)) => (
            ExitCode::ChecksumMismatch,
            ErrorCode::ChecksumMismatch,
            "nothing was installed; retry, and tell the publisher if it fails again",
        ),
        NamedError::Download(TransferError::Failed(_)) => (
            ExitCode::DownloadFailed,
            ErrorCode::Download,
            "nothing was installed; check the network, then retry",
        ),
    };
    CliError::new(exit, code, message).hint(hint)
}

fn folder(context: &Context, folder: &Path) -> Result<(), CliError> {
    let manifest = Plugins::install(&context.roots, folder).map_err(explain)?;
    let engine = &manifest.engine.name;
    context.output.say(&format!(
        "installed the plugin {}; models use it from their next start, with the engine `{engine}`",
        manifest.id
    ));
    show(context, &manifest, Some(&Place::Installed(context.roots.plugins().join(&manifest.id))))
}

fn archive(context: &Context, archive: &Path) -> Result<(), CliError> {
    let trust = release_check::trust(context)?;
    let owner_keys = OwnerKeys::of_plugins(&context.roots.config);
    let archive = VerifiedArchive::open(archive, &trust, &owner_keys).map_err(refuse)?;
    let manifest = Plugins::install_archive(&context.roots, &archive).map_err(explain)?;
    let (id, engine) = (&manifest.id, &manifest.engine.name);
    context.output.say(&format!(
        "installed the plugin {id}, signed by {}; models use it from their next start, with the engine `{engine}`",
        signer(&archive.signed_by)
    ));
    show(context, &manifest, Some(&Place::Installed(context.roots.plugins().join(id))))
}

/// Names a signer for a person.
pub(super) fn signer(signed_by: &str) -> String {
    match signed_by {
        "release" => "a release key".to_owned(),
        kid => format!("the key {kid}"),
    }
}

/// Explains why an archive is not installed.
fn refuse(error: ArchiveError) -> CliError {
    let again = "nothing was installed; get the archive and its signature again from the publisher";
    let untrusted = (ExitCode::SignatureInvalid, ErrorCode::SignatureInvalid);
    let ((exit, code), hint) = match &error {
        ArchiveError::Unsigned { .. } => (
            untrusted,
            "nothing was installed; get the signature from the publisher and put it beside the archive",
        ),
        ArchiveError::Refused {
            source: RefusedDocument::Untrusted(Untrusted::UnknownKey), ..
        } => (
            untrusted,
            "nothing was installed; if you trust the publisher, get the key from them and run `link plugin trust KEY`",
        ),
        ArchiveError::Name { .. } => {
            (untrusted, "nothing was installed; rename it if that is the plugin you want")
        }
        ArchiveError::Chain(..) => {
            (untrusted, "nothing was installed; put the archive into a folder without this file")
        }
        ArchiveError::Refused { .. }
        | ArchiveError::Altered(_)
        | ArchiveError::OtherPlugin { .. } => (untrusted, again),
        ArchiveError::TooLong(_)
        | ArchiveError::Contents { .. }
        | ArchiveError::Plugin(_)
        | ArchiveError::Files(_) => (
            (ExitCode::Usage, ErrorCode::InvalidPlugin),
            "nothing was installed; tell the publisher, who makes the archive with `link plugin pack`",
        ),
        ArchiveError::Io { .. } | ArchiveError::File(_) | ArchiveError::Keys(_) => (
            (ExitCode::CannotWrite, ErrorCode::File),
            "nothing was installed; correct this and retry",
        ),
    };
    CliError::new(exit, code, chain(&error)).hint(hint)
}
