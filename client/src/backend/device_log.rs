//! Log records of a device.

use link_protocol::{
    agent_api::PREFIX,
    backend_api::{
        Page,
        device_log::{DeviceLog, DeviceLogQuery},
    },
    id::DeviceId,
};

use crate::{
    backend::{BackendClient, CallError, query_of},
    http::Call,
};

impl BackendClient {
    /// Returns a page of the log records of `device` that match `query`, newest first.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn device_logs(
        &self,
        device: DeviceId,
        query: &DeviceLogQuery,
    ) -> Result<Page<DeviceLog>, CallError> {
        let values = [
            ("limit", query.limit.map(|limit| limit.to_string())),
            ("cursor", query.cursor.clone()),
            ("severity", query.severity.map(|severity| severity.as_str().to_owned())),
            ("model", query.model.clone()),
        ];
        let path = format!("{PREFIX}/devices/{device}/logs?{}", query_of(values));
        self.call(|| Call::get(&path)).await
    }
}
