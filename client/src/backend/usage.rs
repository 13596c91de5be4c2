//! The usage of the account's models.

use link_protocol::{
    agent_api::PREFIX,
    backend_api::usage::{UsageGroups, UsageQuery},
};

use crate::{
    backend::{BackendClient, CallError, query_of},
    http::Call,
};

impl BackendClient {
    /// Returns the usage that matches `query`, in the groups that it names.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause; also if `query` names no groups.
    pub async fn usage_groups(&self, query: &UsageQuery) -> Result<UsageGroups, CallError> {
        let values = [
            ("group_by", query.group_by.map(|by| by.as_str())),
            ("bucket", Some(query.bucket.as_str())),
            ("from", query.from.as_deref()),
            ("to", query.to.as_deref()),
            ("device_id", query.device_id.as_deref()),
            ("model_id", query.model_id.as_deref()),
        ];
        let path = format!("{PREFIX}/usage?{}", query_of(values));
        self.call(|| Call::get(&path)).await
    }
}
