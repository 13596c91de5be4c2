//! `link engine trust` and `link plugin trust`: the keys, in addition to the release keys, that may sign engine indexes or
//! the archives of plugins.

use link_installer::owner_keys::{KeyError, OwnerKeys};
use link_protocol::exit_code::ExitCode;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    args::TrustArguments,
    context::Context,
    document::Removed,
    error::{CliError, chain},
    error_code::ErrorCode,
};

/// A key that may sign engine indexes, or the archives of plugins.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct TrustedKey<'a> {
    /// The name of the key.
    key: &'a str,
    /// The public half of the key, in base64url without padding.
    public_key: &'a str,
}

/// What the holder of a key may sign.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Purpose {
    EngineIndexes,
    PluginArchives,
}

impl Purpose {
    fn keys(self, context: &Context) -> OwnerKeys {
        match self {
            Self::EngineIndexes => OwnerKeys::of_engines(&context.roots.config),
            Self::PluginArchives => OwnerKeys::of_plugins(&context.roots.config),
        }
    }

    const fn signed(self) -> &'static str {
        match self {
            Self::EngineIndexes => "indexes of engines",
            Self::PluginArchives => "archives of plugins",
        }
    }

    const fn remains(self) -> &'static str {
        match self {
            Self::EngineIndexes => "its builds stay until `link engine remove`",
            Self::PluginArchives => "its plugins stay until `link plugin remove`",
        }
    }

    const fn list(self) -> &'static str {
        match self {
            Self::EngineIndexes => "`link engine trust --list` shows the keys",
            Self::PluginArchives => "`link plugin trust --list` shows the keys",
        }
    }
}

pub(super) fn run(
    context: &Context,
    purpose: Purpose,
    TrustArguments { key, list: _, remove }: &TrustArguments,
) -> Result<(), CliError> {
    let keys = purpose.keys(context);
    let explain = |error| explain(error, purpose);
    if let Some(kid) = remove {
        keys.remove(kid).map_err(explain)?;
        context.output.say(&format!("the key {kid} is no longer trusted; {}", purpose.remains()));
        return context.output.data(&Removed { removed: kid }, |_| String::new());
    }
    let listed = match key {
        Some(given) => {
            context.ensure_own(Some(&context.roots.config))?;
            let added = keys.add(given).map_err(explain)?;
            for key in &added {
                context.output.say(&format!(
                    "trusting {} that the key {} signs: its holder can make this account run programs",
                    purpose.signed(),
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

fn explain(error: KeyError, purpose: Purpose) -> CliError {
    let (exit, code, hint) = match &error {
        KeyError::NoKey(_) => {
            (ExitCode::Usage, ErrorCode::NoKey, "give the public half of the key, or its file")
        }
        KeyError::Unknown(_) => (ExitCode::Failed, ErrorCode::UnknownName, purpose.list()),
        KeyError::File(error) if error.is_not_found() => {
            (ExitCode::Usage, ErrorCode::NoKey, "give the public half of the key, or its file")
        }
        KeyError::File(_) => (ExitCode::CannotWrite, ErrorCode::File, "correct this and retry"),
    };
    CliError::new(exit, code, chain(&error)).hint(hint)
}
