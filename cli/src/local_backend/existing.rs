//! Whether this user has a backend, and what starts it with the agent.

use link_installer::service::START;

use super::LocalBackend;
use crate::{context::Context, error::CliError};

/// Returns the command that starts what Link runs for this user: the agent and, if there is one, the backend.
pub(crate) fn start_command(context: &Context) -> &'static str {
    let has_backend = LocalBackend::look(context).exists().is_ok_and(|exists| exists);
    if has_backend { "link up" } else { START }
}

impl LocalBackend {
    /// Returns whether `link up` created the backend and no purge has deleted it.
    ///
    /// # Errors
    /// If the settings cannot be read.
    pub(crate) fn exists(&self) -> Result<bool, CliError> {
        Ok(self.settings()?.is_some_and(|settings| settings.is_for_one_person()))
    }

    /// Returns whether `link up` keeps the backend at this address.
    pub(crate) fn is_at(&self, url: &str) -> bool {
        url.starts_with("http://127.0.0.1:") && self.exists().is_ok_and(|exists| exists)
    }
}
