//! `link plugin key` and `link plugin pack`: what a publisher of plugins does.

use std::path::Path;

use link_installer::{
    key_file::{self, KeyFileError, NewKey},
    plugins::{self, ArchiveError, MadeArchive},
};
use link_protocol::exit_code::ExitCode;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    context::{self, Context},
    error::{CliError, chain},
    error_code::ErrorCode,
};

/// A key that signs the archives of plugins.
#[derive(Debug, JsonSchema, Serialize)]
pub(in crate::command) struct MadeKey {
    /// The name of the key.
    key: String,
    /// The public half of the key, in base64url without padding.
    public_key: String,
    /// The file of the key.
    file: String,
}

/// A signed archive of a plugin.
#[derive(Debug, JsonSchema, Serialize)]
pub(in crate::command) struct Packed {
    plugin: String,
    version: String,
    /// The archive.
    archive: String,
    /// The file with its signature.
    signature: String,
    /// The file with the signature of the newest archive, by which `link plugin install` finds it.
    newest: String,
    sha256: String,
    size_bytes: u64,
    /// The name of the key that signed.
    signed_by: String,
    /// The public half of the key, in base64url without padding.
    public_key: String,
}

pub(super) fn key(context: &Context, file: &Path) -> Result<(), CliError> {
    let new = NewKey::draw(file).map_err(|error| explain_key(&error))?;
    new.write()
        .map_err(|error| CliError::file(&error).hint("choose a folder that you may write to"))?;
    context.output.say(&format!(
        "made the key {}; whoever has `{}` can sign plugins in your name",
        new.public.kid,
        file.display()
    ));
    let made = MadeKey {
        key: new.public.kid.clone(),
        public_key: new.public.public_key.clone(),
        file: file.display().to_string(),
    };
    context.output.data(&made, |made| made.public_key.clone())
}

pub(super) fn pack(
    context: &Context,
    folder: &Path,
    out: &Path,
    sign_with: &Path,
    serial: Option<u64>,
) -> Result<(), CliError> {
    let key = key_file::read(sign_with).map_err(|error| explain_key(&error))?;
    let now = context::now();
    let serial = serial.unwrap_or_else(|| u64::try_from(now.as_second()).unwrap_or_default());
    let made = plugins::pack(folder, out, &key, serial, now).map_err(|error| explain(&error))?;
    let MadeArchive { statement, archive, signature, newest } = made;
    let signer = key.verifying();
    context.output.say(&format!(
        "packed the plugin {} {}, signed with the key {}; people who run `link plugin trust {}` can install it",
        statement.plugin, statement.version, signer.kid, signer.public_key
    ));
    let packed = Packed {
        plugin: statement.plugin,
        version: statement.version.to_string(),
        archive: archive.display().to_string(),
        signature: signature.display().to_string(),
        newest: newest.display().to_string(),
        sha256: statement.sha256.as_str().to_owned(),
        size_bytes: statement.size_bytes,
        signed_by: signer.kid.clone(),
        public_key: signer.public_key.clone(),
    };
    context.output.data(&packed, |Packed { archive, signature, newest, .. }| {
        format!("{archive}\n{signature}\n{newest}")
    })
}

fn explain(error: &ArchiveError) -> CliError {
    let (exit, code, hint) = match error {
        ArchiveError::File(error) => return CliError::file(error),
        ArchiveError::Io { .. } => {
            (ExitCode::CannotWrite, ErrorCode::File, "correct this and pack the folder again")
        }
        ArchiveError::Unsigned { .. }
        | ArchiveError::Refused { .. }
        | ArchiveError::Chain(..)
        | ArchiveError::Altered(_)
        | ArchiveError::Name { .. }
        | ArchiveError::OtherPlugin { .. }
        | ArchiveError::TooLong(_)
        | ArchiveError::Contents { .. }
        | ArchiveError::Plugin(_)
        | ArchiveError::Files(_)
        | ArchiveError::Keys(_) => (
            ExitCode::Usage,
            ErrorCode::InvalidPlugin,
            "correct the plugin's files and check them with `link plugin check FOLDER`",
        ),
    };
    CliError::new(exit, code, chain(error)).hint(hint)
}

fn explain_key(error: &KeyFileError) -> CliError {
    let (exit, code, hint) = match error {
        KeyFileError::Exists(_) => {
            (ExitCode::Usage, ErrorCode::File, "name another file; a key is never replaced")
        }
        KeyFileError::NoRandomness => (
            ExitCode::Failed,
            ErrorCode::NoRandomness,
            "retry; if it fails again, restart the machine",
        ),
        KeyFileError::NoKey(_) => {
            (ExitCode::Usage, ErrorCode::NoKey, "`link plugin key FILE` makes a key")
        }
        KeyFileError::Open(_) => (
            ExitCode::Usage,
            ErrorCode::File,
            "keep it to yourself with `chmod 600 FILE`, and make a new key if somebody read it",
        ),
        KeyFileError::File(error) if error.is_not_found() => {
            (ExitCode::Usage, ErrorCode::NoKey, "`link plugin key FILE` makes a key")
        }
        KeyFileError::File(_) => (ExitCode::CannotWrite, ErrorCode::File, "correct this and retry"),
    };
    CliError::new(exit, code, chain(error)).hint(hint)
}
