//! `link install-backend` and `link uninstall-backend`, which `install.sh --backend` calls.
//!
//! The backend has its own folders beside those of a device, so each can be installed, repaired and
//! removed without the other. If a new version does not become ready, the installer restores the
//! previous version.

mod steps;

use std::path::Path;

use link_installer::{
    decide::plan::{
        FileStep,
        backend::{BackendFound, BackendStep, backend},
    },
    install::{Done, Install, InstallOutcome},
    uninstall_backend::{self, Further},
    versions,
};
use link_protocol::exit_code::ExitCode;
use schemars::JsonSchema;
use semver::Version;
use serde::Serialize;

use steps::Steps;

use crate::{
    args::{InstallFiles, UninstallBackend},
    backend_place::Place,
    command::{
        install_files,
        release_check::{self, Source},
    },
    context::Context,
    error::CliError,
    error_code::ErrorCode,
    prompt, service,
};

/// A finished installation of the backend.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Installed<'a> {
    #[schemars(with = "String")]
    version: Version,
    /// `installed`, `intact`, `repaired` or `changed`.
    outcome: &'a str,
    /// The steps that were taken, each as text for a person.
    did: &'a [String],
    /// Whether a service keeps the backend running.
    started: bool,
    /// The configuration file.
    config: &'a Path,
    /// The folder of the data.
    data: &'a Path,
    /// The file with the token for the first account, which is deleted once there is one.
    setup_token_file: &'a Path,
}

/// The end of the backend's installation.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Uninstalled {
    uninstalled: bool,
}

/// Plans all steps from the unpacked release to a running backend, and prints or applies the plan.
///
/// # Errors
/// The error of the step that failed.
pub(super) fn install(context: &Context, arguments: &InstallFiles) -> Result<ExitCode, CliError> {
    let wish = service::wish(context)?;
    let place = Place::find(context, wish);
    let version = install_files::own_version();
    let source = Source { folder: arguments.from.as_deref(), archive: arguments.archive.as_ref() };
    let release = release_check::to_install(context, source, &version, &place.layout)?;
    let shared = place.shared(context);
    let install = Install {
        release: &release,
        layout: &place.layout,
        shared: &shared,
        made: arguments.made.as_deref(),
        source: arguments.source.as_deref(),
    };
    let found = steps::look(&place)?;
    let further = |files: &[FileStep]| backend(&found, !files.is_empty());
    if arguments.dry_run {
        return install_files::say_plan(context, &install.plan(further)?.lines());
    }
    let before = versions::current(&place.layout);
    let done = install.run(further)?;
    say(context, &place, done.outcome, &version);
    let files = done.plan.files.iter().map(ToString::to_string).collect();
    let mut steps = Steps { context, place: &place, before, done: files };
    finish(&mut steps, &found, &done)
}

/// Reports the outcome of the file steps.
fn say(context: &Context, place: &Place, outcome: InstallOutcome, version: &Version) {
    let folder = place.layout.roots().data.display();
    context.output.say(&match outcome {
        InstallOutcome::Installed => format!("installed the backend {version} in {folder}"),
        InstallOutcome::Intact => format!("the backend {version} is already installed and intact"),
        InstallOutcome::Repaired => format!("repaired the backend {version} in {folder}"),
        InstallOutcome::Changed => {
            format!("unpacked the backend {version} next to the previous version")
        }
    });
}

/// Runs the steps after the file steps.
fn finish(
    steps: &mut Steps<'_>,
    found: &BackendFound,
    done: &Done<BackendStep>,
) -> Result<ExitCode, CliError> {
    let (context, place) = (steps.context, steps.place);
    let output = context.output;
    match &found.service {
        Some(service) => steps::kept(&service.unit.step).iter().for_each(|said| output.say(said)),
        None => output.say(&format!("start it with: {}", place.by_hand())),
    }
    for step in &done.plan.further {
        steps.apply(step)?;
    }
    let started = found.service.as_ref().is_some_and(|service| service.unit.is_ours());
    let token = place.layout.roots().state.join("setup-token");
    if started {
        output.say(&format!(
            "the backend is ready; `{} config show` prints its address",
            place.layout.commands()[0].display()
        ));
        if token.exists() {
            output.say(&format!("the setup token for the first account is in {}", token.display()));
        }
    }
    let document = Installed {
        version: install_files::own_version(),
        outcome: done.outcome.as_str(),
        did: &steps.done,
        started,
        config: &place.config,
        data: &place.layout.roots().state,
        setup_token_file: &token,
    };
    output.data(&document, |_| String::new())?;
    Ok(ExitCode::Success)
}

/// Uninstalls the backend. Its data stays unless `--purge` is given.
///
/// # Errors
/// The error of the step that failed.
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
    if !arguments.yes && !prompt::confirm(question)? {
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
        return Err(CliError::new(ExitCode::LeftBehind, ErrorCode::LeftBehind, message));
    }
    context.output.say("deleted the backend");
    for kept in [&place.layout.roots().state, &place.config] {
        if kept.exists() {
            context.output.say(&format!("kept {}", kept.display()));
        }
    }
    context.output.data(&Uninstalled { uninstalled: true }, |_| String::new())?;
    Ok(ExitCode::Success)
}
