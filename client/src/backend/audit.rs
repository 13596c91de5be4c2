//! The audit log of the account.

use link_protocol::{
    agent_api::PREFIX,
    backend_api::{
        Page,
        audit::{AuditEntry, AuditQuery},
    },
};

use crate::{
    backend::{BackendClient, CallError, query_of},
    http::Call,
};

impl BackendClient {
    /// Returns a page of the entries that match `query`, newest first.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn audit(&self, query: &AuditQuery) -> Result<Page<AuditEntry>, CallError> {
        let limit = query.limit.map(|limit| limit.to_string());
        let values = [
            ("limit", limit.as_ref()),
            ("cursor", query.cursor.as_ref()),
            ("action", query.action.as_ref()),
            ("actor", query.actor.as_ref()),
            ("subject", query.subject.as_ref()),
            ("since", query.since.as_ref()),
            ("until", query.until.as_ref()),
        ];
        let path = format!("{PREFIX}/audit?{}", query_of(values));
        self.call(|| Call::get(&path)).await
    }
}
