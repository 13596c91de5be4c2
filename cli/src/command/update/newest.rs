//! The end of an update that found no newer version: verifies the installed files against the receipt, and downloads
//! damaged ones again.

use std::path::PathBuf;

use link_installer::{
    install::{Install, InstallOutcome},
    intact,
    layout::Layout,
    stage::Stage,
    update::Wanted,
};
use link_protocol::update::UpdateProgress;
use schemars::JsonSchema;
use semver::Version;
use serde::Serialize;
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
    shared_files, version_label,
};

/// The versions before and after an update. The versions are equal if there is no newer one.
#[derive(Debug, JsonSchema, Serialize)]
pub(in crate::command) struct Updated<'a> {
    #[schemars(with = "String")]
    from: &'a Version,
    #[schemars(with = "String")]
    to: &'a Version,
    /// Whether the list of releases has expired, so that there may be a newer version.
    stale: bool,
    /// The damaged files. Present if the newest version is installed and nothing was repaired.
    #[serde(skip_serializing_if = "Option::is_none")]
    damaged: Option<Vec<PathBuf>>,
    /// The damaged files that were downloaded again. Present if there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    repaired: Option<Vec<PathBuf>>,
}

impl<'a> Updated<'a> {
    pub(super) const fn new(from: &'a Version, to: &'a Version, stale: bool) -> Self {
        Self { from, to, stale, damaged: None, repaired: None }
    }
}

/// Reports that `version` needs no update, and whether it is damaged.
pub(super) fn say(
    context: &Context,
    version: &Version,
    wanted: &Wanted,
    stale: bool,
) -> Result<(), CliError> {
    let (stands, label) = (stands(wanted), version_label::label(&context.roots, version));
    warn_if(stale, context);
    let damaged = intact::damaged(&Layout::new(context.roots.clone()));
    context.output.say(&match damaged.as_slice() {
        [] => format!("version {label} {stands}, and intact: there is nothing to do"),
        [first, ..] => format!(
            "version {label} {stands}, and `{}` is damaged: `link update` downloads it again",
            first.display()
        ),
    });
    let document = Updated { damaged: Some(damaged), ..Updated::new(version, version, stale) };
    context.output.data(&document, |_| String::new())
}

/// Repairs `version`, which needs no update: downloads it again if it is damaged, and then restarts a running agent.
pub(super) async fn keep(
    context: &Context,
    version: &Version,
    wanted: &Wanted,
    stale: bool,
) -> Result<(), CliError> {
    let layout = Layout::new(context.roots.clone());
    let damaged = intact::damaged(&layout);
    let Some(first) = damaged.first() else {
        return say(context, version, wanted, stale);
    };
    let label = version_label::label(&context.roots, version);
    context.output.say(&format!(
        "version {label} {}, and `{}` is damaged: downloading it again",
        stands(wanted),
        first.display()
    ));
    let (trust, newest) = (release_check::trust(context)?, Wanted::default());
    let stage =
        Stage { layout: &layout, trust: &trust, wanted: &newest, now: context::now(), check: &[] };
    let shared = shared_files::of_installation(context)?;
    let (sender, seen) = watch::channel(UpdateProgress::default());
    let mended = stage.mend(&sender, |release| {
        Install { release, layout: &layout, shared: &shared, made: None, source: None }.run_files()
    });
    let outcome = shown(context, seen, mended).await.map_err(explain)?;
    if outcome != InstallOutcome::Intact && agent_process::stop(context).await? {
        agent_process::start(context).await?;
    }
    warn_if(stale, context);
    context.output.say(&format!("repaired version {label}"));
    let document = Updated { repaired: Some(damaged), ..Updated::new(version, version, stale) };
    context.output.data(&document, |_| String::new())
}

/// Returns why the installed version needs no update. A version that was asked for may have a newer one.
const fn stands(wanted: &Wanted) -> &'static str {
    if wanted.version.is_some() { "is installed" } else { "is the newest" }
}
