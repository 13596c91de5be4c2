//! The calls of a device's agent.
//!
//! Reports give `false` when they may be sent again and [`HttpError`] when they may not; a poll
//! gives `None` likewise. What each path holds is `link_protocol::agent_api`.

use std::time::Duration;

use link_protocol::{
    agent_api::{self, Hello, Poll, Welcome},
    envelope::Receipt,
    id::{CommandId, DeviceId, ModelId},
    limits,
    registration::{REGISTER_PATH, RegisterRequest, Registered},
    report::{
        CommandReport, LifecycleReport, LogRecord, ModelReport, ProgressReport, TelemetryReport,
    },
    secret::Secret,
    system::SystemReport,
};
use serde::Serialize;

use crate::http::{Call, Failure, Http, HttpError, InvalidAddress, or_false, or_none};

/// The backend as one registered device calls it.
#[derive(Clone, Debug)]
pub struct AgentClient {
    http: Http,
    device: DeviceId,
}

/// Registers a device at `backend_url`. `access_token` is needed only where the key is not enough.
///
/// # Errors
/// [`Failure`] with the whole cause; nothing is registered then, or the answer was lost and the
/// same key re-activates the same device.
pub async fn register(backend: &Http, request: &RegisterRequest) -> Result<Registered, Failure> {
    backend.call(Call::post(REGISTER_PATH).json(request)).await
}

impl AgentClient {
    /// Prepares the calls of `device`.
    ///
    /// # Errors
    /// [`InvalidAddress`] when `base_url` is not an http or https address.
    pub fn new(
        base_url: &str,
        device: DeviceId,
        device_token: Secret,
    ) -> Result<Self, InvalidAddress> {
        Ok(Self { http: Http::new(base_url)?.with_bearer(device_token), device })
    }

    /// Returns the device that this client speaks for.
    #[must_use]
    pub const fn device(&self) -> DeviceId {
        self.device
    }

    /// Returns the server beneath, for calls that need the whole cause of a failure.
    #[must_use]
    pub const fn http(&self) -> &Http {
        &self.http
    }

    /// Says what the device has and runs; the device is online once it has the answer.
    ///
    /// # Errors
    /// [`HttpError`] when the backend refuses the device.
    pub async fn hello(&self, hello: &Hello) -> Result<Option<Welcome>, HttpError> {
        let call = Call::post(agent_api::hello_path(self.device)).json(hello);
        or_none(self.http.call(call).await)
    }

    /// Waits up to `wait` for commands after sequence number `after`. No commands is a success.
    ///
    /// # Errors
    /// [`HttpError`] when the backend refuses the device.
    pub async fn poll(&self, after: u64, wait: Duration) -> Result<Option<Poll>, HttpError> {
        let path = agent_api::poll_path(self.device, after, wait.as_secs());
        let timeout = wait + limits::HANDLER_TIMEOUT;
        or_none(self.http.call(Call::get(path).timeout(timeout)).await)
    }

    /// Answers a delivery.
    ///
    /// # Errors
    /// [`HttpError`] when the backend refuses it.
    pub async fn receipt(&self, receipt: &Receipt) -> Result<bool, HttpError> {
        self.post(&agent_api::receipt_path(self.device, receipt.command_id), receipt).await
    }

    /// Reports how a command ended.
    ///
    /// # Errors
    /// [`HttpError`] when the backend refuses it.
    pub async fn command_status(&self, report: &CommandReport) -> Result<bool, HttpError> {
        self.post(&self.command_status_path(report.command_id), report).await
    }

    /// Reports the lifecycle of the agent.
    ///
    /// # Errors
    /// [`HttpError`] when the backend refuses it.
    pub async fn lifecycle(&self, report: &LifecycleReport) -> Result<bool, HttpError> {
        self.http.put(&agent_api::lifecycle_path(self.device), report).await
    }

    /// Reports the state of a model.
    ///
    /// # Errors
    /// [`HttpError`] when the backend refuses it.
    pub async fn model_status(&self, report: &ModelReport) -> Result<bool, HttpError> {
        self.post(&agent_api::model_status_path(self.device, report.model_id), report).await
    }

    /// Reports the progress of a deployment of `model`.
    ///
    /// # Errors
    /// [`HttpError`] when the backend refuses it.
    pub async fn progress(
        &self,
        model: ModelId,
        report: &ProgressReport,
    ) -> Result<bool, HttpError> {
        self.post(&agent_api::progress_path(self.device, model), report).await
    }

    /// Reports the token usage of one inference.
    ///
    /// # Errors
    /// [`HttpError`] when the backend refuses it.
    pub async fn telemetry(&self, report: &TelemetryReport) -> Result<bool, HttpError> {
        self.post(&agent_api::telemetry_path(self.device, report.model_id), report).await
    }

    /// Reports a sample of the device itself.
    ///
    /// # Errors
    /// [`HttpError`] when the backend refuses it.
    pub async fn system(&self, report: &SystemReport) -> Result<bool, HttpError> {
        self.post(&agent_api::system_path(self.device), report).await
    }

    /// Sends a log record.
    ///
    /// # Errors
    /// [`HttpError`] when the backend refuses it.
    pub async fn logs(&self, record: &LogRecord) -> Result<bool, HttpError> {
        self.post(&agent_api::logs_path(), record).await
    }

    /// Deregisters the device.
    ///
    /// # Errors
    /// [`Failure`] with the whole cause.
    pub async fn deregister(&self) -> Result<(), Failure> {
        self.http.call_for_status(Call::delete(agent_api::device_path(self.device))).await
    }

    /// Posts a body that was stored with its path.
    ///
    /// # Errors
    /// [`HttpError`] when the backend refuses it.
    pub async fn post_json(&self, path: &str, body: &serde_json::Value) -> Result<bool, HttpError> {
        self.post(path, body).await
    }

    /// Puts a body that was stored with its path.
    ///
    /// # Errors
    /// [`HttpError`] when the backend refuses it.
    pub async fn put_json(&self, path: &str, body: &serde_json::Value) -> Result<bool, HttpError> {
        self.http.put(path, body).await
    }

    fn command_status_path(&self, command: CommandId) -> String {
        agent_api::command_status_path(self.device, command)
    }

    async fn post<B: Serialize + ?Sized>(&self, path: &str, body: &B) -> Result<bool, HttpError> {
        or_false(self.http.call_for_status(Call::post(path).json(body)).await)
    }
}

#[cfg(test)]
mod tests;
