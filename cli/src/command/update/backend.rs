//! Updates the backend of `link up` after an update of the device, to the same version from the same release. If the
//! new version does not become ready, restores the previous one.

use link_installer::{
    layout::Layout,
    versions::{self, Versions},
};
use link_protocol::exit_code::ExitCode;
use semver::Version;

use crate::{
    command::{staging, up},
    context::Context,
    error::CliError,
    error_code::ErrorCode,
    local_backend::LocalBackend,
};

/// Updates this user's backend to the version of the device, if the backend is older.
///
/// # Errors
/// If the release cannot be downloaded or is not trusted, or the new backend does not start.
pub(super) async fn follow(context: &Context) -> Result<(), CliError> {
    // The variables that scripts set for other backends do not apply here.
    let context = &context.without_backend();
    let local = LocalBackend::look(context);
    let layout = &local.place().layout;
    let Some((before, to)) = outdated(context, layout) else { return Ok(()) };
    if !local.exists()? {
        context.output.say(&format!(
            "the backend of this user is a server and stays at version {before}: `sh install.sh \
             --backend` upgrades it"
        ));
        return Ok(());
    }
    let _turn = up::turn(context).await?;
    let local = LocalBackend::find(context)?;
    context.output.say(&format!("updating the backend {before} to {to}"));
    staging::bring_backend(context, local.place()).await?;
    let runs = local.stop().await?;
    if runs && let Err(error) = local.start(context).await {
        return Err(put_back(context, &local, &before, &to, error).await);
    }
    Versions::lock_within(layout, versions::PATIENCE).and_then(|versions| versions.prune())?;
    context.output.say(&if runs {
        format!("updated the backend {before} to {to}")
    } else {
        format!("updated the backend {before} to {to}, which runs with the next `link up`")
    });
    Ok(())
}

/// Returns the versions of the backend and of the device. None unless the backend is older.
fn outdated(context: &Context, layout: &Layout) -> Option<(Version, Version)> {
    let before = versions::current(layout)?;
    let to = versions::current(&Layout::new(context.roots.clone()))?;
    (before < to).then_some((before, to))
}

/// Restores and starts the previous version. Returns the error that describes the failed update.
async fn put_back(
    context: &Context,
    local: &LocalBackend,
    before: &Version,
    to: &Version,
    error: CliError,
) -> CliError {
    let pointed = Versions::lock_within(&local.place().layout, versions::PATIENCE)
        .and_then(|versions| versions.point(before));
    if let Err(error) = pointed {
        return error.into();
    }
    let came_back = local.start(context).await.is_ok();
    let message = format!(
        "the backend {to} does not run here ({}); version {before} {}",
        error.message,
        if came_back { "is back" } else { "is current again, and does not start either" }
    );
    CliError::new(ExitCode::RolledBack, ErrorCode::RolledBack, message)
        .hint("`link update` tries again; the log of the backend has more")
}
