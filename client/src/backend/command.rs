//! Commands to a device: repair, serve, stop, uninstall, and what became of them.

use link_protocol::{
    agent_api::PREFIX,
    backend_api::command::CommandInfo,
    id::{CommandId, DeviceId, ModelId},
    port::Port,
};

use crate::{
    backend::{BackendClient, CallError},
    http::Call,
};

impl BackendClient {
    /// Corrects the allowlist of a serving pipeline in place (specification, section 4.1). The same
    /// `idempotency_key` makes one repair, however often it is sent.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn repair_serving(
        &self,
        model: ModelId,
        device: DeviceId,
        port: Option<Port>,
        idempotency_key: &str,
    ) -> Result<CommandInfo, CallError> {
        let path = with_port(&format!("{PREFIX}/models/{model}/repair-serving/{device}"), port);
        self.call(|| Call::post(&path).header("idempotency-key", idempotency_key)).await
    }

    /// Starts serving a model that is deployed.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn serve(
        &self,
        model: ModelId,
        device: DeviceId,
        port: Option<Port>,
    ) -> Result<CommandInfo, CallError> {
        let path = with_port(&format!("{PREFIX}/models/{model}/serve/{device}"), port);
        self.call(|| Call::post(&path)).await
    }

    /// Stops serving a model.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn stop(&self, model: ModelId, device: DeviceId) -> Result<CommandInfo, CallError> {
        self.call(|| Call::post(format!("{PREFIX}/models/{model}/stop/{device}"))).await
    }

    /// Deletes a model from a device; it stays available to deploy again.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn uninstall(
        &self,
        model: ModelId,
        device: DeviceId,
    ) -> Result<CommandInfo, CallError> {
        self.call(|| Call::post(format!("{PREFIX}/models/{model}/uninstall/{device}"))).await
    }

    /// Returns a command and, once the device has reported it, its result.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn command(&self, command: CommandId) -> Result<CommandInfo, CallError> {
        self.call(|| Call::get(format!("{PREFIX}/commands/{command}"))).await
    }
}

fn with_port(path: &str, port: Option<Port>) -> String {
    port.map_or_else(|| path.to_owned(), |port| format!("{path}?port={port}"))
}
