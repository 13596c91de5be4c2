//! Commands to a device: repair, serve, stop, uninstall, and their outcomes.

use link_protocol::{
    agent_api::PREFIX,
    backend_api::{
        Page,
        command::{CommandExplanation, CommandInfo},
    },
    command::CommandKind,
    id::{CommandId, DeviceId, ModelId},
    limits,
    port::Port,
};

use crate::{
    backend::{BackendClient, CallError, query_value},
    http::Call,
};

impl BackendClient {
    /// Updates the allowlist of a serving pipeline in place (specification, section 4.1). Calls
    /// with the same `idempotency_key` start one repair.
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

    /// Starts serving a deployed model.
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

    /// Deletes a model from a device. The model can be deployed again.
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

    /// Returns at most `most` commands of the account's devices, newest first.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn commands(
        &self,
        device: Option<DeviceId>,
        kind: Option<CommandKind>,
        open: bool,
        most: usize,
    ) -> Result<Vec<CommandInfo>, CallError> {
        let size = u32::try_from(most).unwrap_or(u32::MAX).clamp(1, limits::PAGE_SIZE_LIMIT);
        let device = device.map(|device| format!("&device_id={device}")).unwrap_or_default();
        let kind = kind.map(|kind| format!("&type={}", kind.as_str())).unwrap_or_default();
        let first = format!("{PREFIX}/commands?limit={size}&open={open}{device}{kind}");
        let mut page: Page<CommandInfo> = self.call(|| Call::get(&first)).await?;
        let mut commands = page.items;
        while let Some(cursor) = page.next_cursor.filter(|_| commands.len() < most) {
            let next = format!("{first}&cursor={}", query_value(&cursor));
            page = self.call(|| Call::get(&next)).await?;
            commands.append(&mut page.items);
        }
        commands.truncate(most);
        Ok(commands)
    }

    /// Returns an explanation of a command's state.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn explain_command(
        &self,
        command: CommandId,
    ) -> Result<CommandExplanation, CallError> {
        self.call(|| Call::get(format!("{PREFIX}/commands/{command}/explanation"))).await
    }

    /// Returns a command, with its result once the device has reported one.
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
