//! `link install-files`: what `install.sh` hands over to. Lays out the unpacked release, registers
//! if a key was given in the environment, starts the agent, and says what happened.

use std::path::{Path, PathBuf};

use link_installer::{
    install::{self, InstallError, Outcome},
    layout::Layout,
};
use serde_json::json;

use crate::{
    agent_process::{self, Started},
    args::{InstallFiles, Register},
    command::register,
    context::Context,
    error::{CliError, chain},
    exit_code::ExitCode,
    resolve, session,
};

const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(super) async fn run(context: &Context, arguments: &InstallFiles) -> Result<ExitCode, CliError> {
    let layout = Layout::new(context.roots.clone());
    let outcome = install::install(&arguments.from, VERSION, &layout, arguments.made.as_deref())
        .map_err(explain)?;
    let output = context.output;
    output.say(&match outcome {
        Outcome::Installed => {
            format!("installed Link {VERSION} in {}", context.roots.data.display())
        }
        Outcome::Intact => format!("Link {VERSION} is already installed and intact"),
        Outcome::Repaired => format!("repaired Link {VERSION} in {}", context.roots.data.display()),
        Outcome::Changed => format!("installed Link {VERSION} beside the version before"),
    });
    session::remember_backend(context)?;
    let registered = enrol(context).await;
    start(context, outcome).await?;
    if let Some(advice) = path_advice(context, &layout) {
        output.say(&advice);
    }
    if let Err(error) = &registered {
        output.error(error);
    }
    let exit = registered.map_or_else(|error| error.exit, |()| ExitCode::Success);
    let document = json!({
        "version": VERSION, "outcome": format!("{outcome:?}").to_lowercase(),
        "registered": resolve::identity(context)?.is_some(),
    });
    output.data(&document, |_| String::new())?;
    Ok(exit)
}

/// Registers with the key in the environment, unless the device is registered.
async fn enrol(context: &Context) -> Result<(), CliError> {
    if let Some(identity) = resolve::identity(context)? {
        context.output.say(&format!("this device is {} already", identity.device_id));
        return Ok(());
    }
    let arguments = Register {
        registration_key: None,
        fleet_key: None,
        backend: crate::args::Backend::default(),
        name: None,
        device_id: None,
        new_device: false,
    };
    let Some(key) = register::given_key(context, &arguments)? else {
        context.output.say("not registered: no key was given; register with `link register`");
        return Ok(());
    };
    let identity = register::register(context, &arguments, Some(key)).await.map_err(|error| {
        let unreachable = error.exit == ExitCode::Unreachable;
        CliError {
            exit: if unreachable { ExitCode::InstalledUnreachable } else { error.exit },
            hint: Some(error.hint.unwrap_or_else(|| "register with `link register`".to_owned())),
            ..error
        }
        .context("installed, and not registered")
    })?;
    context.output.say(&format!("registered as {}", identity.device_id));
    Ok(())
}

/// Starts the agent; one of another build is replaced by this one.
async fn start(context: &Context, outcome: Outcome) -> Result<(), CliError> {
    if outcome != Outcome::Intact {
        agent_process::stop(context).await?;
    }
    let started = agent_process::start(context).await?;
    context.output.say(match started {
        Started::Before => "the agent runs",
        Started::Now { .. } => "started the agent; it does not start by itself after a reboot yet",
    });
    Ok(())
}

/// Says what keeps a person from calling the command by its name.
fn path_advice(context: &Context, layout: &Layout) -> Option<String> {
    let bin = &context.roots.bin;
    let path = context.environment.path.clone().unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let line = format!("export PATH=\"{}:$PATH\"", bin.display());
    match first_with(&folders, "link") {
        Some(first) if first == bin => None,
        Some(first) if folders.contains(bin) => Some(format!(
            "`link` in {} comes before {}; put ours first: {line}",
            first.display(),
            layout.command().display()
        )),
        Some(_) | None => {
            Some(format!("no PATH file was changed; to call `link` by its name: {line}"))
        }
    }
}

fn first_with<'a>(folders: &'a [PathBuf], name: &str) -> Option<&'a Path> {
    folders.iter().map(PathBuf::as_path).find(|folder| folder.join(name).is_file())
}

fn explain(error: InstallError) -> CliError {
    let (exit, hint) = match &error {
        InstallError::Busy => (ExitCode::Busy, "wait until it has ended"),
        InstallError::NameTaken(_) => {
            (ExitCode::CannotWrite, "move it away, or install into another folder with LINK_HOME")
        }
        full if full.is_disk_full() => (ExitCode::NoSpace, "free some space and run it again"),
        InstallError::Io { .. } | InstallError::File(_) => {
            (ExitCode::CannotWrite, "is the folder yours to write?")
        }
    };
    CliError::new(exit, "install", chain(&error)).hint(hint)
}
