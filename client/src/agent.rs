//! The calls of a device's agent.
//!
//! A [`Failure`] says whether a retry may succeed, and how long the backend asked to wait. The
//! types of the bodies are in `link_protocol::agent_api`.

use std::time::Duration;

use link_protocol::{
    agent_api::{self, Hello, Poll, Welcome},
    counter::Seq,
    envelope::Receipt,
    id::DeviceId,
    limits,
    registration::{REGISTER_PATH, RegisterRequest, Registered},
    secret::Secret,
    zenoh::ZenohAccess,
};

use crate::http::{Call, Failure, Http, InvalidAddress};

/// A client of the backend for a registered device.
#[derive(Clone, Debug)]
pub struct AgentClient {
    http: Http,
    device: DeviceId,
}

/// Registers a device at `backend_url`. `access_token` is needed only if the key alone does not
/// suffice.
///
/// # Errors
/// [`Failure`] with the whole cause. Either the device is not registered, or only the answer was lost. In both cases a
/// retry with the same key pair is safe: it registers or re-activates the same device.
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

    /// Returns the device whose token this client sends.
    #[must_use]
    pub const fn device(&self) -> DeviceId {
        self.device
    }

    /// Returns the underlying HTTP client, for other calls.
    #[must_use]
    pub const fn http(&self) -> &Http {
        &self.http
    }

    /// Reports the installed and running models. After the answer the device is online.
    ///
    /// # Errors
    /// [`Failure`] when the backend refuses the device or does not answer.
    pub async fn hello(&self, hello: &Hello) -> Result<Welcome, Failure> {
        self.http.call(Call::post(agent_api::hello_path(self.device)).json(hello)).await
    }

    /// Waits up to `wait` for commands with a sequence number above `after`. An answer without commands
    /// is a success.
    ///
    /// # Errors
    /// [`Failure`] when the backend refuses the device or does not answer.
    pub async fn poll(&self, after: Seq, wait: Duration) -> Result<Poll, Failure> {
        let path = agent_api::poll_path(self.device, after, wait.as_secs());
        let timeout = wait + limits::HANDLER_TIMEOUT;
        self.http.call(Call::get(path).timeout(timeout)).await
    }

    /// Acknowledges a delivery.
    ///
    /// # Errors
    /// [`Failure`] when the backend refuses the receipt or does not answer.
    pub async fn receipt(&self, receipt: &Receipt) -> Result<(), Failure> {
        let path = agent_api::receipt_path(self.device, receipt.command_id);
        self.http.call_for_status(Call::post(path).json(receipt)).await
    }

    /// Requests the address of the zenoh router and the device's credentials for it.
    ///
    /// # Errors
    /// [`Failure`] if the backend refuses the device, has no router or does not answer.
    pub async fn zenoh_access(&self) -> Result<ZenohAccess, Failure> {
        self.http.call(Call::post(agent_api::zenoh_path(self.device))).await
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
