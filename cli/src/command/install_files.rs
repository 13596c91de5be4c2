//! `link install-files`, which `install.sh` calls. Plans all steps from the unpacked release to a running agent, and
//! either prints the plan (`--dry-run`) or applies it and reports the outcome.

mod steps;

use link_installer::{
    decide::plan::{
        FileStep,
        device::{DeviceStep, device},
    },
    install::{self, Done, Install, InstallOutcome},
    layout::Layout,
    service::Wish,
    versions,
};
use link_protocol::{
    exit_code::ExitCode,
    update::{UpdateEnd, UpdateOutcome},
};
use schemars::JsonSchema;
use semver::Version;
use serde::Serialize;

use steps::{Looked, Steps};

use crate::{
    agent_process::Started,
    args::InstallFiles,
    backend_place::Place,
    command::release_check::{self, Source},
    context::Context,
    error::CliError,
    error_code::ErrorCode,
    resolve, service, shared_files, version_label,
};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The steps that an installation would take.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Plan<'a> {
    /// The version to install.
    version: &'a str,
    /// The steps, each as text for a person.
    would: &'a [String],
}

/// A finished installation.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Installed<'a> {
    version: &'a str,
    /// `installed`, `intact`, `repaired` or `changed`.
    outcome: &'a str,
    /// The steps that were taken, each as text for a person.
    did: &'a [String],
    /// Whether this machine is registered as a device.
    registered: bool,
}

pub(super) async fn run(context: &Context, arguments: &InstallFiles) -> Result<ExitCode, CliError> {
    let layout = Layout::new(context.roots.clone());
    let wish = service::wish(context)?;
    let source = Source { folder: arguments.from.as_deref(), archive: arguments.archive.as_ref() };
    let release = release_check::to_install(context, source, &own_version(), &layout)?;
    let shared = shared_files::of_installation(context)?;
    let install = Install {
        release: &release,
        layout: &layout,
        shared: &shared,
        made: arguments.made.as_deref(),
        source: arguments.source.as_deref(),
    };
    let mut looked = None;
    let further = |files: &[FileStep]| {
        let found = &looked.insert(steps::look(context, &layout, wish)).found;
        device(found, !files.is_empty())
    };
    if arguments.dry_run {
        let lines = install.plan(further)?.lines();
        return say_plan(context, &lines);
    }
    let done = install.run(further)?;
    let looked = looked.expect("an installation that was decided has looked");
    say(context, done.outcome);
    finish(context, &layout, &done, &looked).await
}

/// Prints the plan.
pub(super) fn say_plan(context: &Context, lines: &[String]) -> Result<ExitCode, CliError> {
    if lines.is_empty() {
        context.output.say("nothing would be done");
    }
    context.output.data(&Plan { version: VERSION, would: lines }, |_| {
        let lines = lines.iter().map(|line| format!("would {line}\n"));
        lines.collect::<String>().trim_end().to_owned()
    })?;
    Ok(ExitCode::Success)
}

/// Reports the outcome of the file steps.
fn say(context: &Context, outcome: InstallOutcome) {
    let folder = context.roots.data.display();
    let version = version_label::label(&context.roots, &own_version());
    context.output.say(&match outcome {
        InstallOutcome::Installed => format!("installed Link {version} in {folder}"),
        InstallOutcome::Intact => {
            format!("Link {version} is already installed and intact: there is nothing to do")
        }
        InstallOutcome::Repaired => format!("repaired Link {version} in {folder}"),
        InstallOutcome::Changed => format!("unpacked Link {version} next to the previous version"),
    });
}

/// Runs the steps after the file steps.
async fn finish(
    context: &Context,
    layout: &Layout,
    done: &Done<DeviceStep>,
    looked: &Looked,
) -> Result<ExitCode, CliError> {
    let files = done.plan.files.iter().map(ToString::to_string).collect();
    let mut steps = Steps::after(context, layout, files);
    steps.registered = looked.say(context);
    for step in &done.plan.further {
        steps.apply(step).await?;
    }
    let starts =
        |step: &DeviceStep| *step == DeviceStep::StartAgent || *step == DeviceStep::RestartAgent;
    if !done.plan.further.iter().any(starts) {
        steps::runs(context, layout, Started::Before).await?;
    }
    let output = context.output;
    if done.outcome == InstallOutcome::Changed {
        let version = version_label::label(&context.roots, &own_version());
        output.say(&format!(
            "installed Link {version}; if it fails within the next two minutes, Link restores the \
             previous version"
        ));
    }
    looked.say_of_path(context);
    output.say(&format!("in this shell, type: {} status", context.surroundings.command()));
    if let Err(error) = &steps.registered {
        output.error(error);
    }
    let document = Installed {
        version: VERSION,
        outcome: done.outcome.as_str(),
        did: &steps.done,
        registered: resolve::identity(context)?.is_some(),
    };
    output.data(&document, |_| String::new())?;
    Ok(steps.registered.map_or_else(|error| error.exit, |()| ExitCode::Success))
}

/// Writes the completions and the manual pages of this version, and those of this user's backend if it has the same
/// version.
pub(super) fn refresh(context: &Context) -> Result<(), CliError> {
    let layout = Layout::new(context.roots.clone());
    let shared = shared_files::of_installation(context)?;
    install::refresh(&layout, &shared)?;
    let backend = Place::of_user(context, Wish::Detached);
    if versions::current(&backend.layout) == Some(own_version()) {
        install::refresh(&backend.layout, &backend.shared(context))?;
    }
    Ok(())
}

/// Returns the version of this program, which is also that of its release.
pub(super) fn own_version() -> Version {
    VERSION.parse().expect("the package's version is one")
}

fn judge(
    current: Option<&Version>,
    answers: Option<&Version>,
    last: Option<UpdateOutcome>,
) -> Result<(), CliError> {
    let own = own_version();
    let [Some(current), Some(answers)] = [current, answers] else {
        let message = format!("Link {own} was installed and started but does not answer");
        return Err(CliError::new(ExitCode::NotRunning, ErrorCode::NotRunning, message));
    };
    let is_rolled_back =
        |last: &UpdateOutcome| last.outcome == UpdateEnd::RolledBack && last.to == own;
    match last.filter(is_rolled_back) {
        _ if [current, answers] == [&own, &own] => Ok(()),
        Some(last) if *current != own => {
            let reason = last.reason.unwrap_or_default();
            let message = format!(
                "Link {own} does not run here: {reason}; it was rolled back to version {current}"
            );
            Err(CliError::new(ExitCode::RolledBack, ErrorCode::RolledBack, message)
                .hint("correct the cause and install again; the agent's log has details"))
        }
        Some(_) | None => {
            let message =
                format!("Link {own} was installed, but version {answers} of the agent answers");
            Err(CliError::new(ExitCode::NotRunning, ErrorCode::NotRunning, message)
                .hint("see `link status`; `link restart` starts the current version"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_must_be_what_was_installed() {
        let (own, other) = (own_version(), Version::new(0, 0, 1));
        let ended = |outcome, to: &Version| {
            let reason = Some("it ended".to_owned());
            Some(UpdateOutcome { from: other.clone(), to: to.clone(), outcome, reason })
        };
        let back = ended(UpdateEnd::RolledBack, &own);
        let exit = |current, answers, last: &Option<UpdateOutcome>| {
            judge(current, answers, last.clone()).map_err(|error| error.exit)
        };
        assert_eq!(exit(Some(&own), Some(&own), &None), Ok(()));
        assert_eq!(exit(Some(&own), Some(&own), &back), Ok(()), "that was an earlier try");
        assert_eq!(exit(Some(&other), Some(&other), &back), Err(ExitCode::RolledBack));
        let older = ended(UpdateEnd::RolledBack, &Version::new(0, 0, 9));
        assert_eq!(exit(Some(&own), Some(&other), &older), Err(ExitCode::NotRunning));
        assert_eq!(exit(Some(&own), None, &None), Err(ExitCode::NotRunning));
        let error = judge(Some(&other), Some(&other), back.clone()).unwrap_err();
        assert!(error.message.contains("it ended; it was rolled back to version 0.0.1"));
    }
}
