//! The backend of `link up` when Link is uninstalled: it is told that its device goes, ends with its
//! program, and keeps its data unless that is to go too.

use std::path::PathBuf;

use crate::{command::down, context::Context, error::CliError, local_backend::LocalBackend};

/// The backend of this user, where there is one.
pub(super) struct OwnBackend(Option<LocalBackend>);

impl OwnBackend {
    /// Looks for it, and starts it where it does not run: it has a device to forget.
    ///
    /// # Errors
    /// When its settings cannot be read.
    pub(super) async fn find(context: &Context) -> Result<Self, CliError> {
        let local = LocalBackend::find(context)?;
        if !local.exists()? {
            return Ok(Self(None));
        }
        if !local.is_running()?
            && let Err(error) = local.start(context).await
        {
            // What that means for the device is said when it is to be deregistered.
            context.output.say(&format!("{}; its device stays in its data", error.message));
        }
        Ok(Self(Some(local)))
    }

    /// Stops it and takes it away, its data only where that is wished. Returns where the data stays.
    ///
    /// # Errors
    /// When it does not end, or something cannot be deleted.
    pub(super) async fn take_away(
        &self,
        context: &Context,
        purge: bool,
    ) -> Result<Option<PathBuf>, CliError> {
        let Self(Some(local)) = self else { return Ok(None) };
        local.stop().await?;
        down::take_away(context, local, purge)?;
        if purge {
            context.output.say("deleted your backend and its data");
            return Ok(None);
        }
        let data = local.folder().to_owned();
        context.output.say(&format!(
            "your backend's data stays in {}: `link up` uses it again; delete the folder and {} \
             when nobody needs it",
            data.display(),
            local.config().display()
        ));
        Ok(Some(data))
    }
}
