//! Who may share models with every account right now.

use crate::{app::App, domain::sharing::Publishers, failure::Failure};

impl App {
    /// Returns the accounts that may share.
    ///
    /// # Errors
    /// [`Failure::Store`].
    pub(super) async fn publishers(&self) -> Result<Publishers, Failure> {
        Ok(self.store.publishers(&self.config.sharing).await?)
    }
}
