//! `link down`: stops the backend of `link up` and the agent. `--purge` deletes their data.

use link_installer::uninstall_backend::{self, Further};
use link_platform::fs;
use link_protocol::exit_code::ExitCode;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    agent_process, args,
    command::up,
    context::Context,
    error::CliError,
    error_code::ErrorCode,
    local_backend::{LocalBackend, Settings},
    prompt, resolve,
};

/// The word that a person types to confirm the deletion.
const WORD: &str = "purge";

/// The result of stopping the agent and the backend.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Down {
    /// Whether the agent was running.
    agent_stopped: bool,
    /// Whether the backend was running.
    backend_stopped: bool,
    /// Whether the data was deleted.
    purged: bool,
}

pub(super) async fn run(context: &Context, arguments: args::Down) -> Result<ExitCode, CliError> {
    let _turn = up::turn(context).await?;
    let local = LocalBackend::find(context)?;
    if arguments.purge && !arguments.yes && !is_meant(&local)? {
        context.output.say("nothing was changed");
        return Ok(ExitCode::Success);
    }
    let agent = agent_process::stop(context).await?;
    context.output.say(if agent { "stopped the agent" } else { "the agent was not running" });
    let backend = if local.exists()? { local.stop().await? } else { false };
    context.output.say(if backend { "stopped the backend" } else { "the backend was not running" });
    if arguments.purge {
        purge(context, &local)?;
    } else if local.exists()? {
        context.output.say(&format!("its data stays in {}", local.folder().display()));
    }
    let document = Down { agent_stopped: agent, backend_stopped: backend, purged: arguments.purge };
    context.output.data(&document, |_| String::new())?;
    Ok(ExitCode::Success)
}

fn is_meant(local: &LocalBackend) -> Result<bool, CliError> {
    let question = format!(
        "This deletes your backend with every account, device and model in {}, and this device's \
         models.\nType `{WORD}` to go on",
        local.folder().display()
    );
    Ok(prompt::ask_text(&question, "--yes", |_| Ok(()))?.trim() == WORD)
}

fn purge(context: &Context, local: &LocalBackend) -> Result<(), CliError> {
    let url = local.settings()?.as_ref().and_then(Settings::url);
    if local.exists()? {
        take_away(context, local, true)?;
        context.output.say("deleted the backend and its data");
    }
    // Keep the login and the device of another backend.
    let identity = resolve::identity(context)?;
    if identity.is_none_or(|identity| Some(identity.backend_url) == url) {
        forget_device(context).map_err(|error| CliError::file(&error))?;
        context.output.say("deleted this device's registration, login and models");
    }
    Ok(())
}

/// Removes the unit and the programs of the backend, and its data if `purge` is set.
///
/// # Errors
/// If a file cannot be deleted.
pub(super) fn take_away(
    context: &Context,
    local: &LocalBackend,
    purge: bool,
) -> Result<(), CliError> {
    let place = local.place();
    // The installer's lock file is in this folder, even if nothing was installed.
    fs::create_private_dir(&place.layout.roots().data).map_err(|error| CliError::file(&error))?;
    let shared = place.shared(context);
    let further = Further { config: (place.config.as_path(), ""), shared: &shared, purge };
    let left = uninstall_backend::run(&place.layout, place.scope, further)?;
    match left.first() {
        None => Ok(()),
        Some((path, why)) => {
            let message =
                format!("{} could not be deleted, first `{}`: {why}", left.len(), path.display());
            Err(CliError::new(ExitCode::LeftBehind, ErrorCode::LeftBehind, message)
                .hint("delete it, and run this command again"))
        }
    }
}

/// Deletes the identity and the state of this device. The programs and engines stay.
fn forget_device(context: &Context) -> Result<(), fs::FileError> {
    let roots = &context.roots;
    for folder in [roots.sessions(), roots.models(), roots.run(), roots.logs()] {
        fs::remove_dir(&folder)?;
    }
    for name in ["journal.db", "journal.db-wal", "journal.db-shm", "registration.pending"] {
        fs::remove_file(&roots.state.join(name))?;
    }
    for name in ["credentials.json", "credentials.lock", "backend_url"] {
        fs::remove_file(&roots.config.join(name))?;
    }
    fs::remove_file(&roots.state.join("chat_history"))?;
    fs::remove_file(&roots.identity())
}
