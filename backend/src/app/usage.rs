//! Token usage of the models on an account's devices.

use link_protocol::backend_api::usage::Usage;

use crate::{app::App, auth::access::Identity, failure::Failure, tables::UsageFilter};

impl App {
    /// Lists token usage of the account's devices, the newest first.
    ///
    /// # Errors
    /// [`Failure::Store`].
    pub async fn usage(
        &self,
        caller: Identity,
        filter: &UsageFilter,
    ) -> Result<Vec<Usage>, Failure> {
        Ok(self.store.usage(caller.account, filter).await?)
    }
}
