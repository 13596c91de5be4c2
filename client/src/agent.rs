//! The calls of a device's agent.
//!
//! Reports give `false` when they may be sent again and [`HttpError`] when they may not; a poll
//! gives `None` likewise. What each path holds is `link_protocol::agent_api`.

use std::time::Duration;

use link_protocol::{
    agent_api::{self, Hello, Poll, Welcome},
    envelope::Receipt,
    id::DeviceId,
    limits,
    registration::{REGISTER_PATH, RegisterRequest, Registered},
    secret::Secret,
    zenoh::ZenohAccess,
};

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
        let path = agent_api::receipt_path(self.device, receipt.command_id);
        or_false(self.http.call_for_status(Call::post(path).json(receipt)).await)
    }

    /// Asks where the router of zenoh is and who the device is there.
    ///
    /// # Errors
    /// [`HttpError`] when the backend refuses the device or has no router.
    pub async fn zenoh_access(&self) -> Result<Option<ZenohAccess>, HttpError> {
        or_none(self.http.call(Call::post(agent_api::zenoh_path(self.device))).await)
    }

    /// Deregisters the device.
    ///
    /// # Errors
    /// [`Failure`] with the whole cause.
    pub async fn deregister(&self) -> Result<(), Failure> {
        self.http.call_for_status(Call::delete(agent_api::device_path(self.device))).await
    }
}

#[cfg(test)]
mod tests;
