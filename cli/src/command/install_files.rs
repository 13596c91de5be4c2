//! `link install-files`: what `install.sh` hands over to. Lays out the unpacked release, registers
//! if a key was given in the environment, makes the service, starts the agent, puts the command on
//! PATH, and says what happened.

use std::time::Duration;

use link_client::local::LocalClient;
use link_installer::{
    install::{self, Install, Outcome},
    layout::Layout,
    service::Wish,
    versions,
};
use link_protocol::{
    exit_code::ExitCode,
    update::{UpdateEnd, UpdateOutcome},
};
use semver::Version;
use serde_json::json;

use crate::{
    agent_process::{self, Started},
    args::{InstallFiles, Register},
    command::{register, release_check},
    context::Context,
    error::CliError,
    path_setup, resolve, service, session, shared_files,
    wait::Deadline,
};

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// An agent that answered a moment ago answers again within this time.
const PATIENCE: Duration = Duration::from_secs(10);

pub(super) async fn run(context: &Context, arguments: &InstallFiles) -> Result<ExitCode, CliError> {
    let layout = Layout::new(context.roots.clone());
    let wish = service::wish(context)?;
    let wanted = (arguments.from.as_deref(), arguments.archive.as_ref());
    let release = release_check::to_install(context, wanted, &own_version(), &layout)?;
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
    let outcome = install.run()?;
    let output = context.output;
    output.say(&match outcome {
        Outcome::Installed => {
            format!("installed Link {VERSION} in {}", context.roots.data.display())
        }
        Outcome::Intact => {
            format!("Link {VERSION} is already installed and intact: there is nothing to do")
        }
        Outcome::Repaired => format!("repaired Link {VERSION} in {}", context.roots.data.display()),
        Outcome::Changed => format!("laid out Link {VERSION} beside the version before"),
    });
    session::remember_backend(context)?;
    let unit_changed = service::set_up(context, &layout, wish)?;
    let registered = enrol(context).await;
    start(context, unit_changed || outcome != Outcome::Intact).await?;
    runs(context, &layout).await?;
    if outcome == Outcome::Changed {
        output.say(&format!(
            "installed Link {VERSION}; if it fails within the next two minutes, the version before \
             comes back"
        ));
    }
    path_setup::set_up(context, &layout)?;
    if let Err(error) = &registered {
        output.error(error);
    }
    let exit = registered.map_or_else(|error| error.exit, |()| ExitCode::Success);
    let document = json!({
        "version": VERSION, "outcome": outcome.as_str(),
        "registered": resolve::identity(context)?.is_some(),
    });
    output.data(&document, |_| String::new())?;
    Ok(exit)
}

/// Says what would be done.
fn dry_run(context: &Context, install: &Install<'_>, wish: Wish) -> Result<ExitCode, CliError> {
    let mut lines: Vec<_> = install.plan()?.iter().map(ToString::to_string).collect();
    lines.extend(service::would_set_up(context, install.layout, wish));
    lines.extend(path_setup::would_set_up(context, install.layout));
    let is_registered = resolve::identity(context)?.is_some();
    let has_key = register::given_key(context, &Register::default())?.is_some();
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
    Ok(install::refresh(&layout, &shared)?)
}

/// The version of this program, which is that of the release it came with.
pub(super) fn own_version() -> Version {
    VERSION.parse().expect("the package's version is one")
}

/// Registers with the key in the environment, unless the device is registered.
async fn enrol(context: &Context) -> Result<(), CliError> {
    if let Some(identity) = resolve::identity(context)? {
        context.output.say(&format!("this device is {} already", identity.device_id));
        return Ok(());
    }
    let arguments = Register::default();
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
    agent_process::say_port(context)?;
    context.output.say(&service::in_words(&service::availability(context)));
    Ok(())
}

/// Makes sure that what runs is what was installed: the guard may have put the version before back.
async fn runs(context: &Context, layout: &Layout) -> Result<(), CliError> {
    let (local, deadline) = (LocalClient::of(&context.roots), Deadline::after(PATIENCE));
    let answers = match resolve::identity(context)? {
        Some(identity) => loop {
            let answer = local.healthz().await.ok();
            // One that has not taken up a new registration yet is another device.
            let answer = answer.filter(|healthz| healthz.device_id == identity.device_id);
            if answer.is_some() || !deadline.pause_locally().await {
                break answer.map(|healthz| healthz.agent_version);
            }
        },
        None => versions::current(layout),
    };
    let current = versions::current(layout);
    judge(current.as_ref(), answers.as_ref(), versions::state(layout).last)
}

fn judge(
    current: Option<&Version>,
    answers: Option<&Version>,
    last: Option<UpdateOutcome>,
) -> Result<(), CliError> {
    let own = own_version();
    let [Some(current), Some(answers)] = [current, answers] else {
        let message = format!("Link {own} was installed and started, and does not answer");
        return Err(CliError::new(ExitCode::NotRunning, "not-running", message));
    };
    let is_rolled_back =
        |last: &UpdateOutcome| last.outcome == UpdateEnd::RolledBack && last.to == own;
    match last.filter(is_rolled_back) {
        _ if [current, answers] == [&own, &own] => Ok(()),
        Some(last) if *current != own => {
            let reason = last.reason.unwrap_or_default();
            let message = format!(
                "Link {own} does not run here: {reason}; it was rolled back, version {current} runs"
            );
            Err(CliError::new(ExitCode::RolledBack, "rolled-back", message)
                .hint("install it again once the reason is gone; the log of the agent has more"))
        }
        Some(_) | None => {
            let message =
                format!("Link {own} was installed, and version {answers} of the agent answers");
            Err(CliError::new(ExitCode::NotRunning, "not-running", message)
                .hint("look at `link status`; `link restart` starts the version that is current"))
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
        assert!(error.message.contains("it ended; it was rolled back, version 0.0.1 runs"));
    }
}
