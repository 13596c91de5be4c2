//! `link engine trust`: the keys, in addition to the release keys, that may sign engine indexes.

use std::path::Path;

use link_installer::engine_keys::{KeyError, OwnerKeys};
use link_protocol::exit_code::ExitCode;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    context::Context,
    document::Removed,
    error::{CliError, chain},
    error_code::ErrorCode,
};

/// A key that may sign indexes of engines.
#[derive(Debug, JsonSchema, Serialize)]
pub(in crate::command) struct TrustedKey<'a> {
    /// The name of the key.
    key: &'a str,
    /// The public half of the key, in base64url without padding.
    public_key: &'a str,
}

pub(super) fn run(
    context: &Context,
    key: Option<&Path>,
    remove: Option<&str>,
) -> Result<(), CliError> {
    let keys = OwnerKeys::in_folder(&context.roots.config);
    if let Some(kid) = remove {
        keys.remove(kid).map_err(explain)?;
        context.output.say(&format!(
            "the key {kid} is no longer trusted; its builds stay until `link engine remove`"
        ));
        return context.output.data(&Removed { removed: kid }, |_| String::new());
    }
    let listed = match key {
        Some(file) => {
            context.ensure_own(Some(&context.roots.config))?;
            let added = keys.add(file).map_err(explain)?;
            for key in &added {
                context.output.say(&format!(
                    "trusting indexes of engines that the key {} signs: its holder can make this account \
                     run programs",
                    key.kid
                ));
            }
            added
        }
        None => keys.list().map_err(explain)?,
    };
    let entries: Vec<_> = listed
        .iter()
        .map(|key| TrustedKey { key: &key.kid, public_key: &key.public_key })
        .collect();
    context.output.data(&entries, |_| {
        let lines: Vec<_> = listed.iter().map(|key| key.kid.clone()).collect();
        match key {
            Some(_) => String::new(),
            None if lines.is_empty() => {
                "no keys were added; release keys are always trusted".to_owned()
            }
            None => lines.join("\n"),
        }
    })
}

fn explain(error: KeyError) -> CliError {
    let (exit, code, hint) = match &error {
        KeyError::NoKey(_) => {
            (ExitCode::Usage, ErrorCode::NoKey, "use the file with the public half of the key")
        }
        KeyError::Unknown(_) => {
            (ExitCode::Failed, ErrorCode::UnknownName, "`link engine trust --list` shows the keys")
        }
        KeyError::File(_) => (ExitCode::CannotWrite, ErrorCode::File, "correct this and retry"),
    };
    CliError::new(exit, code, chain(&error)).hint(hint)
}
