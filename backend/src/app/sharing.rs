//! The accounts that may currently share models with every account.

use crate::{app::App, domain::sharing::Publishers, failure::AppError};

impl App {
    /// Returns the accounts that may share.
    ///
    /// # Errors
    /// [`AppError::Store`].
    pub(super) async fn publishers(&self) -> Result<Publishers, AppError> {
        Ok(self.store.publishers(&self.config.sharing).await?)
    }
}
