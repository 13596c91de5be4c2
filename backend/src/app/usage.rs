//! Token usage of the models on an account's devices.

use link_protocol::backend_api::usage::Usage;

use crate::{app::App, auth::access::Identity, failure::AppError, tables::UsageFilter};

impl App {
    /// Lists the token usage of the account's devices, newest first.
    ///
    /// # Errors
    /// [`AppError::Store`].
    pub async fn usage(
        &self,
        caller: Identity,
        filter: &UsageFilter,
    ) -> Result<Vec<Usage>, AppError> {
        Ok(self.store.usage(caller.account, filter).await?)
    }
}
