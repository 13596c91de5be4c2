//! Downloads the program of the backend if it is missing, from the release source of this
//! installation, and verifies it like an update.

use link_installer::{layout::Layout, receipt::Receipt, stage::Stage, update::Wanted};
use link_protocol::update::UpdateProgress;
use tokio::sync::watch;

use crate::{
    command::{
        release_check,
        update::{explain, shown},
    },
    context::{self, Context},
    error::CliError,
    local_backend::LocalBackend,
};

/// Makes sure that the program is installed.
///
/// # Errors
/// When the release source is unknown, or the release cannot be downloaded or trusted.
pub(super) async fn ensure(context: &Context, local: &LocalBackend) -> Result<(), CliError> {
    let Err(missing) = local.program(context) else { return Ok(()) };
    let layout = Layout::new(context.roots.clone());
    let source = Receipt::read(&layout.receipt()).and_then(|receipt| receipt.source);
    let Some(source) = source else { return Err(missing) };
    context.output.say(&format!("downloading the backend from {source}"));
    let (trust, wanted) = (release_check::trust(context)?, Wanted::default());
    let stage =
        Stage { layout: &layout, trust: &trust, wanted: &wanted, now: context::now(), check: &[] };
    let place = local.place();
    let shared = place.shared(context);
    let (sender, seen) = watch::channel(UpdateProgress::default());
    let brought = stage.bring_backend(&place.layout, &shared, &sender);
    shown(context, seen, brought)
        .await
        .map_err(|error| explain(error).context("the backend could not be downloaded"))?;
    Ok(())
}
