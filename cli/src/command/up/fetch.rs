//! Downloads the backend's program if it is missing, from the release source of this installation,
//! and verifies it like an update.

use link_installer::{layout::Layout, receipt::Receipt};

use crate::{command::staging, context::Context, error::CliError, local_backend::LocalBackend};

/// Makes sure that the program is installed.
///
/// # Errors
/// If the release source is unknown, or the release cannot be downloaded or trusted.
pub(super) async fn ensure(context: &Context, local: &LocalBackend) -> Result<(), CliError> {
    let Err(missing) = local.program(context) else { return Ok(()) };
    let layout = Layout::new(context.roots.clone());
    let source = Receipt::read(&layout.receipt()).and_then(|receipt| receipt.source);
    let Some(source) = source else { return Err(missing) };
    context.output.say(&format!("downloading the backend from {source}"));
    staging::bring_backend(context, local.place()).await
}
