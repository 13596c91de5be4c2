//! `link uninstall`: stops the agent, deregisters the device and deletes the installation.
//!
//! After a "no" at the prompt nothing has changed (specification, section 3.4). Nothing changes
//! either while the backend is unreachable, unless `--force` is given: then the command prints a
//! retire code, which frees the device's slot at the backend later. The agent is stopped first, so
//! that it cannot report for a deleted device. No installer runs meanwhile.

use link_client::agent::AgentClient;
use link_installer::{
    layout::Layout,
    uninstall::{Left, Places, Uninstallation},
};
use link_protocol::{exit_code::ExitCode, identity::Identity, problem::Code, retire::RetireCode};
use serde_json::json;

mod own_backend;

use self::own_backend::OwnBackend;
use crate::{
    agent_process,
    args::Uninstall,
    context::{self, Context},
    error::CliError,
    error_code::ErrorCode,
    output, path_setup, resolve, secret_input, shared_files,
};

/// The state of the device's record at the backend.
enum Record {
    /// There was no record.
    None,
    Removed,
    /// The backend was unreachable.
    Kept(Option<Retirement>),
}

/// The code that removes the record later.
struct Retirement {
    code: RetireCode,
    backend_url: String,
}

pub(super) async fn run(context: &Context, arguments: Uninstall) -> Result<ExitCode, CliError> {
    let question = "Deregister this device and delete Link, its models and its login?";
    if !arguments.yes && !secret_input::confirm(question)? {
        context.output.say("nothing was changed");
        return Ok(ExitCode::Success);
    }
    let identity = match resolve::identity(context) {
        Err(error) if !arguments.force => return Err(without_identity(error)),
        other => other,
    };
    let own = OwnBackend::find(context).await?;
    let was_running = agent_process::stop(context).await?;
    if was_running {
        context.output.say("stopped the agent");
    }
    let roots = &context.roots;
    let was_there = [&roots.data, &roots.state, &roots.config].iter().any(|path| path.exists());
    let begun = match Uninstallation::begin(&Layout::new(context.roots.clone())) {
        Ok(begun) => begun,
        Err(busy) => {
            return Err(as_before(context, was_running, busy.into()).await);
        }
    };
    let record = match settle(context, identity, arguments.force).await {
        Ok(record) => record,
        Err(error) => {
            // The restarted guard needs the lock.
            drop(begun);
            return Err(as_before(context, was_running, error).await);
        }
    };
    let kept_data = own.take_away(context, arguments.purge).await?;
    let left = delete(context, begun)?;
    let kept = matches!(record, Record::Kept(_));
    let retirement = match &record {
        Record::Kept(retirement) => retirement.as_ref(),
        Record::None | Record::Removed => None,
    };
    let document = json!({
        "uninstalled": left.failed.is_empty(),
        "deregistered": !kept,
        "retire_code": retirement.map(|retirement| &retirement.code),
        "backend_url": retirement.map(|retirement| &retirement.backend_url),
        "kept_backend_data": kept_data,
    });
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

/// Deletes the installed files, as far as they are known.
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
/// When the backend is unreachable without `--force`, or nobody can be shown the code.
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
        Ok(()) => {
            context.output.say("deregistered the device");
            Ok(Record::Removed)
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

async fn deregister(identity: &Identity) -> Result<(), CliError> {
    let Identity { backend_url, device_id, device_token, .. } = identity;
    let client = AgentClient::new(backend_url, *device_id, device_token.clone())?;
    match client.deregister().await {
        // The backend does not know the device, so there is nothing left to do. A different server
        // at this address has no such code.
        Err(failure) if matches!(failure.code(), Some(Code::Unauthorized | Code::NotFound)) => {
            Ok(())
        }
        other => Ok(other?),
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

/// Shows a person the code before anything is deleted. A program gets the code in the document at
/// the end.
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

/// Restarts the agent if it was running, so that a failed uninstall has changed nothing.
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
