//! The end of an update that found nothing newer: checks the installed files against the receipt,
//! and downloads damaged ones again.

use link_installer::{
    install::{Install, Outcome},
    intact,
    layout::Layout,
    stage::Stage,
    update::Wanted,
};
use link_protocol::update::UpdateProgress;
use semver::Version;
use serde_json::json;
use tokio::sync::watch;

use crate::{
    agent_process,
    command::{
        release_check,
        staging::{explain, shown},
        update::warn_if,
    },
    context::{self, Context},
    error::CliError,
    shared_files,
};

/// Reports that `version` is the newest, and whether it is damaged.
pub(super) fn say(context: &Context, version: &Version, stale: bool) -> Result<(), CliError> {
    warn_if(stale, context);
    let damaged = intact::damaged(&Layout::new(context.roots.clone()));
    context.output.say(&match damaged.as_slice() {
        [] => format!("version {version} is the newest, and intact: there is nothing to do"),
        [first, ..] => format!(
            "version {version} is the newest, and `{}` is damaged: `link update` downloads it again",
            first.display()
        ),
    });
    let document = json!({"from": version, "to": version, "stale": stale, "damaged": damaged});
    context.output.data(&document, |_| String::new())
}

/// Keeps `version`, which is the newest. Downloads it again if it is damaged, and then restarts a
/// running agent.
pub(super) async fn keep(
    context: &Context,
    version: &Version,
    stale: bool,
) -> Result<(), CliError> {
    let layout = Layout::new(context.roots.clone());
    let damaged = intact::damaged(&layout);
    let Some(first) = damaged.first() else { return say(context, version, stale) };
    context.output.say(&format!(
        "version {version} is the newest, and `{}` is damaged: downloading it again",
        first.display()
    ));
    let (trust, wanted) = (release_check::trust(context)?, Wanted::default());
    let stage =
        Stage { layout: &layout, trust: &trust, wanted: &wanted, now: context::now(), check: &[] };
    let shared = shared_files::of_installation(context)?;
    let (sender, seen) = watch::channel(UpdateProgress::default());
    let mended = stage.mend(&sender, |release| {
        Install { release, layout: &layout, shared: &shared, made: None, source: None }.run_files()
    });
    let outcome = shown(context, seen, mended).await.map_err(explain)?;
    if outcome != Outcome::Intact && agent_process::stop(context).await? {
        agent_process::start(context).await?;
    }
    warn_if(stale, context);
    context.output.say(&format!("repaired version {version}"));
    let document = json!({"from": version, "to": version, "stale": stale, "repaired": damaged});
    context.output.data(&document, |_| String::new())
}
