//! `link uninstall`: stops the agent, deregisters the device and deletes the installation.
//!
//! After a "no" at the prompt, nothing has changed (specification, section 3.4). The same holds if the backend is
//! unreachable, unless `--force` is given: then the command prints a retire code, which frees the device's slot at the
//! backend later. The agent is stopped first, so that it cannot report for a deleted device. No other installer can run
//! at the same time.

use std::path::{Path, PathBuf};

use link_client::agent::AgentClient;
use link_installer::{
    layout::Layout,
    uninstall::{Left, Places, Uninstallation},
};
use link_protocol::{exit_code::ExitCode, identity::Identity, problem::Code, retire::RetireCode};
use schemars::JsonSchema;
use serde::Serialize;

mod own_backend;

use self::own_backend::OwnBackend;
use crate::{
    agent_process,
    args::Uninstall,
    context::{self, Context},
    error::CliError,
    error_code::ErrorCode,
    output, path_setup, prompt, resolve, shared_files,
};

/// The end of the installation.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Uninstalled<'a> {
    /// Whether all files were deleted.
    uninstalled: bool,
    /// Whether the backend accepts nothing from this device any more.
    deregistered: bool,
    /// The code that deletes the device's record at the backend later. Null if none is needed.
    #[schemars(with = "Option<String>")]
    retire_code: Option<&'a RetireCode>,
    /// The address of the backend that the code is for.
    backend_url: Option<&'a str>,
    /// The folder in which the data of the backend of `link up` stays. Null if there is none.
    kept_backend_data: Option<PathBuf>,
}

/// The state of the device's record at the backend.
enum Record {
    /// There is none.
    None,
    /// The record stays, because the backend was unreachable.
    Kept(Option<Retirement>),
}

/// The code that deletes the record at the backend later.
struct Retirement {
    code: RetireCode,
    backend_url: String,
}

pub(super) async fn run(context: &Context, arguments: Uninstall) -> Result<ExitCode, CliError> {
    let question = "Deregister this device and delete Link, its models and its login?";
    if !prompt::is_meant(question, arguments.yes)? {
        context.output.say("nothing was changed");
        return Ok(ExitCode::Success);
    }
    // Look first: stopping the agent creates a lock file.
    let roots = &context.roots;
    let was_there = [&roots.data, &roots.state, &roots.config].iter().any(|path| has_files(path));
    let identity = match resolve::identity(context) {
        Err(error) if !arguments.force => return Err(without_identity(error)),
        other => other,
    };
    let own = OwnBackend::find(context).await?;
    let was_running = agent_process::stop(context).await?;
    if was_running {
        context.output.say("stopped the agent");
    }
    let begun = match Uninstallation::begin(&Layout::new(context.roots.clone())) {
        Ok(begun) => begun,
        Err(busy) => {
            return Err(as_before(context, was_running, busy.into()).await);
        }
    };
    let record = match settle(context, identity, arguments.force).await {
        Ok(record) => record,
        Err(error) => {
            // The restarted guard needs the installer's lock.
            drop(begun);
            return Err(as_before(context, was_running, error).await);
        }
    };
    let kept_data = own.take_away(context, arguments.purge).await?;
    let left = delete(context, begun)?;
    let kept = matches!(record, Record::Kept(_));
    let retirement = match &record {
        Record::Kept(retirement) => retirement.as_ref(),
        Record::None => None,
    };
    let document = Uninstalled {
        uninstalled: left.failed.is_empty(),
        deregistered: !kept,
        retire_code: retirement.map(|retirement| &retirement.code),
        backend_url: retirement.map(|retirement| retirement.backend_url.as_str()),
        kept_backend_data: kept_data,
    };
    context.output.data(&document, |_| String::new())?;
    if let Some((path, why)) = left.failed.first() {
        let message = format!(
            "{} could not be deleted, first `{}`: {why}",
            left.failed.len(),
            path.display()
        );
        return Err(CliError::new(ExitCode::LeftBehind, ErrorCode::LeftBehind, message));
    }
    context.output.say(&match left.folders.last() {
        None if !was_there => "nothing was installed".to_owned(),
        None => "deleted the installation".to_owned(),
        Some(folder) => {
            format!("deleted the installation except {}, which holds other files", folder.display())
        }
    });
    Ok(if kept { ExitCode::DeregistrationDeferred } else { ExitCode::Success })
}

/// Tells whether a folder holds a file at any depth. An uninstallation keeps empty folders that it did not create.
fn has_files(folder: &Path) -> bool {
    let Ok(entries) = folder.read_dir() else { return false };
    entries.flatten().any(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => has_files(&entry.path()),
        Ok(_) | Err(_) => true,
    })
}

/// Deletes the installed files.
fn delete(context: &Context, begun: Uninstallation) -> Result<Left, CliError> {
    if !begun.has_lost_receipt() {
        return Ok(begun.finish(Places::default()));
    }
    context.output.say(
        "the receipt of the installation is damaged or lost: Link deletes the files that it finds \
         without the receipt. Empty folders may stay, and systemd may keep running services \
         without a login (`loginctl disable-linger` ends that)",
    );
    let (shells, shared) = (path_setup::shells(context), shared_files::of_installation(context)?);
    Ok(begun.finish(Places { shells: shells.as_ref(), shared: &shared }))
}

/// Deregisters the device at the backend, or prints how to do so later.
///
/// # Errors
/// If the backend is unreachable without `--force`, or the code cannot be shown.
async fn settle(
    context: &Context,
    identity: Result<Option<Identity>, CliError>,
    force: bool,
) -> Result<Record, CliError> {
    let identity = match identity {
        Ok(Some(identity)) => identity,
        Ok(None) => {
            context.output.say("the device was not registered");
            return Ok(Record::None);
        }
        Err(error) => {
            let why = error.message;
            context.output.say(&format!(
                "the device can neither be deregistered nor sign a retire code: {why}\n\
                 remove it in the backend's dashboard to free its slot"
            ));
            return Ok(Record::Kept(None));
        }
    };
    match deregister(&identity).await {
        Ok(gone) => {
            context.output.say(match gone {
                Gone::Deregistered => "deregistered the device",
                Gone::Before => {
                    "the backend no longer accepts this device, so there was nothing to deregister; if \
                     the dashboard still lists the device, remove it there"
                }
            });
            Ok(Record::None)
        }
        Err(error) if force => {
            context.output.say(&format!("the backend is unreachable: {}", error.message));
            let retirement = retirement(&identity)?;
            show(context, &retirement)?;
            Ok(Record::Kept(Some(retirement)))
        }
        Err(error) => {
            Err(error.context("not uninstalled, because the backend is unreachable").hint(
                "retry when the backend is reachable, or use `link uninstall --force`: it deletes \
                 everything and prints a code that frees the device's slot later",
            ))
        }
    }
}

/// Why the backend accepts nothing from a device any more.
enum Gone {
    Deregistered,
    /// It was removed there before, or its token has been replaced.
    Before,
}

async fn deregister(identity: &Identity) -> Result<Gone, CliError> {
    let Identity { backend_url, device_id, device_token, .. } = identity;
    let client = AgentClient::new(backend_url, *device_id, device_token.clone())?;
    match client.deregister().await {
        // The backend does not know the device, so there is nothing left to do. A different server at this address
        // would not answer with these codes.
        Err(failure) if matches!(failure.code(), Some(Code::Unauthorized | Code::NotFound)) => {
            Ok(Gone::Before)
        }
        other => Ok(other.map(|()| Gone::Deregistered)?),
    }
}

fn retirement(identity: &Identity) -> Result<Retirement, CliError> {
    let key = identity.signing_key().map_err(|error| {
        CliError::new(
            ExitCode::NotRegistered,
            ErrorCode::Identity,
            format!("no retire code: {error}"),
        )
    })?;
    let Identity { backend_url, device_id, epoch, .. } = identity;
    let code = RetireCode::sign(&key, *device_id, *epoch, context::now());
    Ok(Retirement { code, backend_url: backend_url.clone() })
}

/// Shows the code to a person before anything is deleted. A program gets it in the JSON document at the end.
fn show(context: &Context, retirement: &Retirement) -> Result<(), CliError> {
    if context.output.is_json() {
        return Ok(());
    }
    context.output.say(
        "the device keeps its slot until the backend gets this retire code; copy the code now, it \
         is stored nowhere:",
    );
    output::write_stdout(&format!("{}\n", retirement.code.expose()))?;
    context.output.say(&format!(
        "  on any machine:    link device retire CODE --backend {}\n  \
           in the dashboard:  Devices, `Retire a device with its code`",
        retirement.backend_url
    ));
    Ok(())
}

/// Restarts the agent if it was running, so that a failed uninstallation has changed nothing.
async fn as_before(context: &Context, was_running: bool, mut error: CliError) -> CliError {
    if was_running {
        match agent_process::start(context).await {
            Ok(_) => context.output.say("restarted the agent; nothing was deleted"),
            Err(failed) => {
                let message = &mut error.message;
                *message =
                    format!("{message}; the agent could not be restarted: {}", failed.message);
            }
        }
    }
    error
}

fn without_identity(error: CliError) -> CliError {
    error.context("not uninstalled, because the device cannot be deregistered").hint(
        "remove the device in the backend's dashboard, then use `link uninstall --force`, which deletes \
         everything but cannot sign a retire code",
    )
}
