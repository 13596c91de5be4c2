//! `link update`: asks the agent to update itself, and follows the update. Without a running agent, installs the update
//! itself.

use std::time::Duration;

use link_client::local::LocalClient;
use link_installer::{
    layout::Layout,
    stage::{Stage, StageError},
    update::{Declined, Wanted},
};
use link_protocol::{
    exit_code::ExitCode,
    local_api::Healthz,
    report::LifecycleStatus,
    update::{UpdateEnd, UpdatePhase, UpdateProgress, UpdateRequest},
};
use schemars::JsonSchema;
use semver::Version;
use serde::Serialize;
use tokio::sync::watch;

use crate::{
    agent_process,
    args::Update,
    command::{
        install_files, release_check,
        staging::{explain, show, shown},
    },
    context::{self, Context},
    error::CliError,
    error_code::ErrorCode,
    progress::Progress,
    version_label,
    wait::Deadline,
};

mod backend;
mod newest;

pub(super) use self::newest::Updated;

/// Timeout for the download, the check and the first answer of the new version together.
const PATIENCE: Duration = Duration::from_secs(30 * 60);
/// An agent that does not answer for this long may have ended.
const SILENCE: Duration = Duration::from_secs(10);
/// How long to wait for the first sign of the update. An agent without one has restarted and lost the request.
const LOST: Duration = Duration::from_secs(10);
/// How long to wait until the new version has connected to the backend. Then the command ends anyway.
const CONNECT: Duration = Duration::from_secs(15);

/// A newer version, which is not installed yet.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Available<'a> {
    #[schemars(with = "String")]
    available: &'a Version,
    /// Whether the list of releases has expired, so that there may be a newer version.
    stale: bool,
}

pub(super) async fn run(context: &Context, arguments: Update) -> Result<(), CliError> {
    let Update { version, again, channel, .. } = arguments;
    let wanted = Wanted { version, again, channel };
    if arguments.check {
        return check(context, &wanted).await;
    }
    let local = LocalClient::of(&context.roots);
    match local.healthz().await {
        Ok(before) => by_agent(context, &local, before.agent_version, &wanted).await?,
        Err(_) => here(context, &wanted).await?,
    }
    backend::follow(context).await
}

/// Checks for a newer version.
async fn check(context: &Context, wanted: &Wanted) -> Result<(), CliError> {
    let (layout, trust) = (Layout::new(context.roots.clone()), release_check::trust(context)?);
    let stage = Stage { layout: &layout, trust: &trust, wanted, now: context::now(), check: &[] };
    let (progress, seen) = watch::channel(UpdateProgress::default());
    let found = stage.find(&progress).await;
    let stale = seen.borrow().stale;
    match found {
        Ok(found) => {
            warn_if(stale, context);
            context.output.say(&format!("version {} is available", found.label()));
            let document = Available { available: &found.version, stale };
            context.output.data(&document, |_| String::new())
        }
        Err(StageError::Declined(Declined::UpToDate(version))) => {
            newest::say(context, &version, wanted, stale)
        }
        Err(error) => Err(explain(error)),
    }
}

/// Asks the agent to update, and follows the update until the new version answers.
async fn by_agent(
    context: &Context,
    local: &LocalClient,
    before: Version,
    wanted: &Wanted,
) -> Result<(), CliError> {
    let Wanted { version, again, channel } = wanted.clone();
    let request = UpdateRequest { version, again, channel };
    local.update(&request).await?;
    let (progress, deadline) = (Progress::start(context.output), Deadline::after(PATIENCE));
    let (mut seen, mut began) = (UpdateProgress::default(), false);
    let (mut silence, mut idle) = (None, None);
    loop {
        if !deadline.pause_locally().await {
            return Err(deadline
                .gave_up("the new version does not answer yet")
                .hint("the update goes on; follow it with `link status`"));
        }
        let Ok(now) = local.healthz().await else {
            // While one version replaces the other, neither answers.
            if silence.get_or_insert_with(|| Deadline::after(SILENCE)).has_passed() {
                if !agent_process::is_running(context)? {
                    return Err(ended_too());
                }
                silence = None;
            }
            continue;
        };
        silence = None;
        if now.agent_version != before {
            progress.finish();
            return arrived(context, local, &before, now, seen.stale).await;
        }
        if let Some(update) = &now.update {
            show(&progress, update);
            seen.clone_from(update);
        }
        if now.status == LifecycleStatus::Updating {
            (began, idle) = (true, None);
            continue;
        }
        let is_lost = now.update.is_none()
            && (began || idle.get_or_insert_with(|| Deadline::after(LOST)).has_passed());
        if is_over(seen.phase) || is_lost {
            progress.finish();
            return ended(context, &now, &seen, before, wanted).await;
        }
    }
}

fn ended_too() -> CliError {
    CliError::new(ExitCode::NotRunning, ErrorCode::NotRunning, "the agent ended during the update")
        .hint("start the agent with `link start`; it runs the last working version")
}

/// Reports that the new version answers, and waits briefly until it has connected to the backend.
async fn arrived(
    context: &Context,
    local: &LocalClient,
    before: &Version,
    mut now: Healthz,
    stale: bool,
) -> Result<(), CliError> {
    let deadline = Deadline::after(CONNECT);
    while now.status != LifecycleStatus::Online && deadline.pause_locally().await {
        now = local.healthz().await.unwrap_or(now);
    }
    let to = now.agent_version;
    let label = version_label::label(&context.roots, &to);
    warn_if(stale, context);
    context.output.say(&format!(
        "updated {before} to {label}; if {to} fails within the next two minutes, Link restores {before}"
    ));
    context.output.data(&Updated::new(before, &to, stale), |_| String::new())
}

/// Reports an update that ended without installing another version.
async fn ended(
    context: &Context,
    now: &Healthz,
    update: &UpdateProgress,
    before: Version,
    wanted: &Wanted,
) -> Result<(), CliError> {
    if update.phase == UpdatePhase::UpToDate {
        return newest::keep(context, &before, wanted, update.stale).await;
    }
    if let Some(reason) = rolled_back(now, update) {
        let message = format!("the update was rolled back to version {before}: {reason}");
        return Err(CliError::new(ExitCode::RolledBack, ErrorCode::RolledBack, message)
            .hint("`link update --again` retries the same version"));
    }
    if !is_over(update.phase) {
        let message = format!("the agent was interrupted; version {before} runs again");
        return Err(CliError::new(ExitCode::Failed, ErrorCode::Interrupted, message)
            .hint("run `link update` again; it continues where it stopped"));
    }
    let reason = update.reason.clone().unwrap_or_default();
    let code = if update.phase == UpdatePhase::Declined {
        ErrorCode::Declined
    } else {
        ErrorCode::UpdateFailed
    };
    let message = format!("still on {before}: {reason}");
    let told = CliError::new(exit_code(update.exit_code), code, message);
    if code == ErrorCode::Declined {
        return Err(told);
    }
    Err(told.hint("`link logs --local` says more; run `link update` again once the cause is gone"))
}

fn rolled_back(now: &Healthz, update: &UpdateProgress) -> Option<String> {
    let last = now.last_update.as_ref()?;
    let is_this = last.outcome == UpdateEnd::RolledBack && Some(&last.to) == update.to.as_ref();
    is_this.then(|| last.reason.clone().unwrap_or_default())
}

const fn is_over(phase: UpdatePhase) -> bool {
    matches!(phase, UpdatePhase::UpToDate | UpdatePhase::Declined | UpdatePhase::Failed)
}

/// Installs the new version without the agent's help. Restarts the agent if it was running.
async fn here(context: &Context, wanted: &Wanted) -> Result<(), CliError> {
    let (layout, trust) = (Layout::new(context.roots.clone()), release_check::trust(context)?);
    let stage = Stage { layout: &layout, trust: &trust, wanted, now: context::now(), check: &[] };
    let (sender, seen) = watch::channel(UpdateProgress::default());
    let staged = shown(context, seen, stage.run(&sender)).await;
    let stale = sender.borrow().stale;
    let to = match staged {
        Ok(to) => to,
        Err(StageError::Declined(Declined::UpToDate(version))) => {
            return newest::keep(context, &version, wanted, stale).await;
        }
        Err(error) => return Err(explain(error)),
    };
    warn_if(stale, context);
    let (from, label) = (install_files::own_version(), version_label::label(&context.roots, &to));
    if agent_process::stop(context).await? {
        agent_process::start(context).await?;
        let runs =
            LocalClient::of(&context.roots).healthz().await.map(|healthz| healthz.agent_version);
        if runs.is_ok_and(|runs| runs != to) {
            let message =
                format!("version {to} does not run here; the previous version was restored");
            return Err(CliError::new(ExitCode::RolledBack, ErrorCode::RolledBack, message));
        }
        context.output.say(&format!("updated {from} to {label}"));
    } else {
        context.output.say(&format!("updated {from} to {label}; start it with `link start`"));
    }
    context.output.data(&Updated::new(&from, &to, stale), |_| String::new())
}

fn warn_if(stale: bool, context: &Context) {
    if stale {
        context.output.say(
            "warning: the list of releases has expired: there may be a newer release than it \
             names, unless the clock of this machine is wrong",
        );
    }
}

/// Returns the exit code that an agent has named. The agent may be of a later version and name an unknown one.
fn exit_code(number: Option<u8>) -> ExitCode {
    let named = ExitCode::ALL.iter().find(|code| Some(code.number()) == number);
    named.copied().unwrap_or(ExitCode::Failed)
}
