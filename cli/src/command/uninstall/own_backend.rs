//! The backend of `link up` during an uninstallation: it deregisters its device, stops, and keeps
//! its data unless `--purge` is given.

use std::path::PathBuf;

use crate::{command::down, context::Context, error::CliError, local_backend::LocalBackend};

/// The backend of this user, if there is one.
pub(super) struct OwnBackend(Option<LocalBackend>);

impl OwnBackend {
    /// Finds the backend, and starts it if it is stopped, because it must deregister the device.
    ///
    /// # Errors
    /// If the settings of the backend cannot be read.
    pub(super) async fn find(context: &Context) -> Result<Self, CliError> {
        let local = LocalBackend::find(context)?;
        if !local.exists()? {
            return Ok(Self(None));
        }
        if !local.is_running()?
            && let Err(error) = local.start(context).await
        {
            // The deregistration will fail and report the consequences for the device.
            context.output.say(&format!("{}; the device record stays in its data", error.message));
        }
        Ok(Self(Some(local)))
    }

    /// Stops and removes the backend. Deletes its data only on request, and otherwise returns their
    /// folder.
    ///
    /// # Errors
    /// If the backend does not stop, or a file cannot be deleted.
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
