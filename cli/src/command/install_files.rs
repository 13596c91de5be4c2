//! `link install-files`: what `install.sh` hands over to. Lays out the unpacked release, registers
//! if a key was given in the environment, makes the service, starts the agent, puts the command on
//! PATH, and says what happened.

use link_installer::{
    install::{self, Install, InstallError, Outcome},
    layout::Layout,
    service::Wish,
};
use serde_json::json;

use crate::{
    agent_process::{self, Started},
    args::{InstallFiles, Register},
    command::{register, release_check},
    context::Context,
    error::{CliError, chain},
    exit_code::ExitCode,
    path_setup, resolve, service, session, shared_files,
};

const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(super) async fn run(context: &Context, arguments: &InstallFiles) -> Result<ExitCode, CliError> {
    let layout = Layout::new(context.roots.clone());
    let wish = service::wish(context)?;
    let release = release_check::verify(context, &arguments.from, &own_version())?;
    let shared = shared_files::of_installation(context)?;
    let install = Install {
        release: &release,
        layout: &layout,
        shared: &shared,
        made: arguments.made.as_deref(),
        source: arguments.source.as_deref(),
    };
    if arguments.dry_run {
        return dry_run(context, &install, wish);
    }
    let outcome = install.run().map_err(explain)?;
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
    let unit_changed = service::set_up(context, &layout, wish)?;
    let registered = enrol(context).await;
    start(context, unit_changed || outcome != Outcome::Intact).await?;
    path_setup::set_up(context, &layout)?;
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

/// Says what would be done.
fn dry_run(context: &Context, install: &Install<'_>, wish: Wish) -> Result<ExitCode, CliError> {
    let mut lines: Vec<_> =
        install.plan().map_err(explain)?.iter().map(ToString::to_string).collect();
    lines.extend(service::would_set_up(context, install.layout, wish));
    lines.extend(path_setup::would_set_up(context, install.layout));
    let is_registered = resolve::identity(context)?.is_some();
    let has_key = register::given_key(context, &no_arguments())?.is_some();
    if !is_registered && has_key {
        lines.push("register this device with the key in the environment".to_owned());
    }
    lines.push("start the agent, unless it runs".to_owned());
    context.output.data(&json!({ "version": VERSION, "would": lines }), |_| {
        let lines = lines.iter().map(|line| format!("would {line}\n"));
        lines.collect::<String>().trim_end().to_owned()
    })?;
    Ok(ExitCode::Success)
}

/// Writes the completions and the manual pages of this version.
pub(super) fn refresh(context: &Context) -> Result<(), CliError> {
    let layout = Layout::new(context.roots.clone());
    let shared = shared_files::of_installation(context)?;
    install::refresh(&layout, &shared).map_err(explain)
}

/// The version of this program, which is that of the release it came with.
pub(super) fn own_version() -> semver::Version {
    VERSION.parse().expect("the package's version is one")
}

/// Registers with the key in the environment, unless the device is registered.
async fn enrol(context: &Context) -> Result<(), CliError> {
    if let Some(identity) = resolve::identity(context)? {
        context.output.say(&format!("this device is {} already", identity.device_id));
        return Ok(());
    }
    let arguments = no_arguments();
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

/// Nothing but what the environment says.
fn no_arguments() -> Register {
    Register {
        registration_key: None,
        fleet_key: None,
        backend: crate::args::Backend::default(),
        name: None,
        device_id: None,
        new_device: false,
    }
}

/// Starts the agent; one of another build, or of another unit, is replaced by this one.
async fn start(context: &Context, changed: bool) -> Result<(), CliError> {
    if changed {
        agent_process::stop(context).await?;
    }
    let started = agent_process::start(context).await?;
    context.output.say(match started {
        Started::Before => "the agent runs",
        Started::Now => "started the agent",
    });
    context.output.say(&service::in_words(&service::availability(context)));
    Ok(())
}

pub(super) fn explain(error: InstallError) -> CliError {
    let (exit, hint) = match &error {
        InstallError::Busy => (ExitCode::Busy, "wait until it has ended"),
        InstallError::NameTaken(_) => {
            (ExitCode::CannotWrite, "move it away, or install into another folder with LINK_HOME")
        }
        InstallError::Downgrade { .. } => {
            (ExitCode::Downgrade, "uninstall the newer one first if you mean it")
        }
        InstallError::Changed(_) => (ExitCode::ChecksumMismatch, "run it again"),
        full if full.is_disk_full() => (ExitCode::NoSpace, "free some space and run it again"),
        InstallError::Io { .. } | InstallError::File(_) => {
            (ExitCode::CannotWrite, "is the folder yours to write?")
        }
    };
    CliError::new(exit, "install", chain(&error)).hint(hint)
}
