//! `link install-backend` and `link uninstall-backend`: what `install.sh --backend` hands over to.
//!
//! The backend has folders of its own beside those of a device, so that either can be installed,
//! repaired and taken away without the other. A new version that does not become ready gives its
//! place back to the one before.

use link_installer::{
    install::{Install, Outcome},
    service::{
        Scope, UnitStep,
        backend::{self, is_active},
    },
    uninstall_backend::{self, Further},
    versions::{self, Versions},
};
use link_platform::{checkpoint, fs};
use link_protocol::exit_code::ExitCode;
use semver::Version;
use serde_json::json;

use crate::{
    args::{InstallFiles, UninstallBackend},
    backend_place::Place,
    command::{install_files, release_check},
    context::Context,
    error::{CliError, chain},
    secret_input, service,
};

/// Installs, finishes, repairs or updates.
///
/// # Errors
/// What could not be done.
pub(super) fn install(context: &Context, arguments: &InstallFiles) -> Result<ExitCode, CliError> {
    let wish = service::wish(context)?;
    let place = Place::find(context, wish);
    let version = install_files::own_version();
    let wanted = (arguments.from.as_deref(), arguments.archive.as_ref());
    let release = release_check::to_install(context, wanted, &version, &place.layout)?;
    let shared = place.shared(context);
    let install = Install {
        release: &release,
        layout: &place.layout,
        shared: &shared,
        made: arguments.made.as_deref(),
        source: arguments.source.as_deref(),
    };
    if arguments.dry_run {
        return dry_run(context, &install, &place);
    }
    let before = versions::current(&place.layout);
    let outcome = install.run()?;
    let output = context.output;
    let folder = place.layout.roots().data.display().to_string();
    output.say(&match outcome {
        Outcome::Installed => format!("installed the backend {version} in {folder}"),
        Outcome::Intact => format!("the backend {version} is already installed and intact"),
        Outcome::Repaired => format!("repaired the backend {version} in {folder}"),
        Outcome::Changed => format!("laid out the backend {version} beside the version before"),
    });
    if !place.config.exists() {
        fs::create_private_dir(&place.layout.roots().config).map_err(|e| CliError::file(&e))?;
        fs::write_atomic(&place.config, place.default_config().as_bytes())
            .map_err(|error| CliError::file(&error))?;
        output.say(&format!("made the configuration {}", place.config.display()));
    }
    checkpoint::reach("backend-configured");
    let started = match place.scope {
        Some(scope) => start(context, &place, scope, before.as_ref(), outcome)?,
        None => {
            output.say(&format!("start it with: {}", place.by_hand()));
            false
        }
    };
    Versions::lock_within(&place.layout, versions::PATIENCE)
        .and_then(|versions| versions.prune())?;
    let token = place.layout.roots().state.join("setup-token");
    if started {
        output.say(&format!(
            "the backend is ready; `{} config show` tells its address",
            place.layout.commands()[0].display()
        ));
        if token.exists() {
            output.say(&format!("the setup token for the first account is in {}", token.display()));
        }
    }
    let document = json!({
        "version": version, "outcome": outcome.as_str(), "started": started,
        "config": place.config, "data": place.layout.roots().state, "setup_token_file": token,
    });
    output.data(&document, |_| String::new())?;
    Ok(ExitCode::Success)
}

/// Takes the backend away; its data stays unless it is purged.
///
/// # Errors
/// What could not be done.
pub(super) fn uninstall(
    context: &Context,
    arguments: UninstallBackend,
) -> Result<ExitCode, CliError> {
    let place = Place::find(context, service::wish(context)?);
    let question = if arguments.purge {
        "Delete the backend with every account, device and model?"
    } else {
        "Delete the backend, and keep its data?"
    };
    if !arguments.yes && !secret_input::confirm(question)? {
        context.output.say("nothing was changed");
        return Ok(ExitCode::Success);
    }
    let written = place.default_config();
    let shared = place.shared(context);
    let config = (place.config.as_path(), written.as_str());
    let further = Further { config, shared: &shared, purge: arguments.purge };
    let left = uninstall_backend::run(&place.layout, place.scope, further)?;
    if let Some((path, why)) = left.first() {
        let message =
            format!("{} could not be deleted, first `{}`: {why}", left.len(), path.display());
        return Err(CliError::new(ExitCode::LeftBehind, "left-behind", message));
    }
    context.output.say("deleted the backend");
    for kept in [&place.layout.roots().state, &place.config] {
        if kept.exists() {
            context.output.say(&format!("kept {}", kept.display()));
        }
    }
    context.output.data(&json!({ "uninstalled": true }), |_| String::new())?;
    Ok(ExitCode::Success)
}

fn dry_run(context: &Context, install: &Install<'_>, place: &Place) -> Result<ExitCode, CliError> {
    let steps = install.plan()?;
    let mut lines: Vec<_> = steps.iter().map(ToString::to_string).collect();
    if !place.config.exists() {
        lines.push(format!("write {}", place.config.display()));
    }
    if let Some(scope) = place.scope {
        let step = backend::would_place(install.layout, &place.unit(scope)).map_err(explain)?;
        if step == UnitStep::Write {
            lines.push("write and enable the unit link-backend.service".to_owned());
        }
        lines.push("start the backend, unless it runs, and wait until it is ready".to_owned());
    }
    let version = install_files::own_version();
    context.output.data(&json!({ "version": version, "would": lines }), |_| {
        let lines = lines.iter().map(|line| format!("would {line}\n"));
        lines.collect::<String>().trim_end().to_owned()
    })?;
    Ok(ExitCode::Success)
}

/// Starts the service and waits until it says that it is ready. Returns whether it runs.
fn start(
    context: &Context,
    place: &Place,
    scope: Scope,
    before: Option<&Version>,
    outcome: Outcome,
) -> Result<bool, CliError> {
    let output = context.output;
    if scope == Scope::System {
        backend::open_to_service(&place.layout, &place.config).map_err(explain)?;
    }
    let step = backend::place(&place.layout, &place.unit(scope)).map_err(explain)?;
    match &step {
        UnitStep::Leave => {}
        UnitStep::Write => output.say("made the unit `link-backend.service`"),
        UnitStep::Keep { difference } => output.say(&format!(
            "the unit `link-backend.service` was changed and is kept (- is there, + is ours):\n\
             {difference}"
        )),
        UnitStep::Masked | UnitStep::NotOurs => {
            output
                .say("the unit `link-backend.service` is masked or of somebody else, and is kept");
            return Ok(false);
        }
    }
    if is_active(scope) && outcome == Outcome::Intact && step == UnitStep::Leave {
        return Ok(true);
    }
    let Err(error) = backend::restart(scope) else { return Ok(true) };
    let own = install_files::own_version();
    let failed = explain(error).hint(match scope {
        Scope::System => "look at `journalctl -u link-backend`",
        Scope::User => "look at `journalctl --user -u link-backend`",
    });
    let Some(before) = before.filter(|before| **before != own) else { return Err(failed) };
    Versions::lock_within(&place.layout, versions::PATIENCE)
        .and_then(|versions| versions.point(before))?;
    // What it says is told by the code.
    let came_back = backend::restart(scope).is_ok();
    let message = format!(
        "the backend {own} does not become ready ({}); version {before} {}",
        failed.message,
        if came_back { "is back" } else { "is current again, and does not start either" }
    );
    let hint = failed.hint.unwrap_or_default();
    Err(CliError::new(ExitCode::RolledBack, "rolled-back", message).hint(hint))
}

fn explain(error: link_installer::service::systemd::ServiceError) -> CliError {
    CliError::new(ExitCode::NotRunning, "service", chain(&error))
}
