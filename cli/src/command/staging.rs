//! The installation of a release: shows its progress, and turns failures into messages and codes.

use link_installer::{
    layout::Layout,
    source::SourceError,
    stage::{Stage, StageError},
    update::{Declined, Wanted},
};
use link_protocol::{
    exit_code::ExitCode,
    update::{UpdatePhase, UpdateProgress},
};
use tokio::sync::watch;

use crate::{
    backend_place::Place,
    command::release_check,
    context::{self, Context},
    error::{CliError, chain},
    error_code::ErrorCode,
    progress::Progress,
};

/// Installs the backend in the same version as the installed Link.
///
/// # Errors
/// If the release cannot be downloaded or is not trusted. The previous version stays current.
pub(super) async fn bring_backend(context: &Context, place: &Place) -> Result<(), CliError> {
    let layout = Layout::new(context.roots.clone());
    let (trust, wanted) = (release_check::trust(context)?, Wanted::default());
    let stage =
        Stage { layout: &layout, trust: &trust, wanted: &wanted, now: context::now(), check: &[] };
    let shared = place.shared(context);
    let (sender, seen) = watch::channel(UpdateProgress::default());
    let brought = stage.bring_backend(&place.layout, &shared, &sender);
    shown(context, seen, brought)
        .await
        .map_err(|error| explain(error).context("the backend could not be downloaded"))?;
    Ok(())
}

/// Runs `work`, and shows its progress.
pub(super) async fn shown<T>(
    context: &Context,
    mut seen: watch::Receiver<UpdateProgress>,
    work: impl Future<Output = T>,
) -> T {
    let progress = Progress::start(context.output);
    let show = async {
        while seen.changed().await.is_ok() {
            show(&progress, &seen.borrow_and_update());
        }
        std::future::pending().await
    };
    let ended = tokio::select! {
        ended = work => ended,
        ended = show => ended,
    };
    progress.finish();
    ended
}

/// Shows the current phase of an update.
pub(super) fn show(progress: &Progress, update: &UpdateProgress) {
    let what = match update.phase {
        UpdatePhase::Finding => "looking for a release",
        UpdatePhase::Downloading => {
            return progress.show("downloading", update.bytes_done, update.bytes_total);
        }
        UpdatePhase::Checking => "verifying and checking",
        UpdatePhase::Replacing => "starting the new version",
        UpdatePhase::UpToDate | UpdatePhase::Declined | UpdatePhase::Failed => return,
    };
    progress.show(what, 0, 0);
}

pub(super) fn explain(error: StageError) -> CliError {
    let code = match error {
        StageError::Untrusted(error) => return release_check::explain(error),
        StageError::Install(error) => return error.into(),
        StageError::Change(error) => return error.into(),
        StageError::File(error) => return CliError::file(&error),
        StageError::Declined(Declined::Downgrade { .. }) => ErrorCode::Downgrade,
        StageError::Declined(_) | StageError::NotInstalled(_) => ErrorCode::Declined,
        StageError::NoSpace { .. } => ErrorCode::NoSpace,
        StageError::Source(ref source) if source.exit_code() == ExitCode::SignatureInvalid => {
            ErrorCode::SignatureInvalid
        }
        StageError::Source(_) | StageError::Download(_) => ErrorCode::Download,
        StageError::Mixed { .. } => ErrorCode::SignatureInvalid,
        StageError::Unpack(_) => ErrorCode::Unpack,
        StageError::SelfCheck { .. } => ErrorCode::SelfCheck,
    };
    let told = CliError::new(error.exit_code(), code, chain(&error));
    match next_step(&error) {
        Some(step) => told.hint(step),
        None => told,
    }
}

/// Returns what to do about an update that changed nothing. None if the error says it.
const fn next_step(error: &StageError) -> Option<&'static str> {
    match error {
        StageError::Source(SourceError::Untrusted(_)) => Some(
            "nothing was changed; install Link again from whoever publishes these releases, whose build trusts their key",
        ),
        StageError::Source(_) | StageError::Download(_) => Some(
            "nothing was changed; check the network and the address of the releases, then try again",
        ),
        StageError::NoSpace { .. } => {
            Some("nothing was changed; free some disk space, then try again")
        }
        StageError::Unpack(_) => Some("nothing was changed; try again"),
        StageError::SelfCheck { .. } => Some(
            "nothing was changed; report it with the version, and with the archive of `link support`",
        ),
        StageError::Mixed { .. } => {
            Some("nothing was changed; report it to whoever publishes the releases")
        }
        StageError::Untrusted(_)
        | StageError::Install(_)
        | StageError::Change(_)
        | StageError::File(_)
        | StageError::Declined(_)
        | StageError::NotInstalled(_) => None,
    }
}
