//! The local API of the agent on this machine (specification, section 4.2). Reads need no token.

use std::time::Duration;

use link_protocol::{
    local_api::{HEALTHZ_PATH, Healthz, MODELS_PATH, PipelineEntry, UPDATE_PATH},
    secret::Secret,
    update::UpdateRequest,
};

use crate::http::{Call, Failure, Http, InvalidAddress};

/// The agent is on the same machine: what it does not answer in this time it will not answer.
const TIMEOUT: Duration = Duration::from_secs(3);

/// The agent of this machine.
#[derive(Clone, Debug)]
pub struct LocalClient {
    http: Http,
}

impl LocalClient {
    /// Prepares calls to the agent that listens on `port` of 127.0.0.1.
    ///
    /// # Errors
    /// [`InvalidAddress`] when no client could be set up.
    pub fn new(port: u16) -> Result<Self, InvalidAddress> {
        Ok(Self { http: Http::new(&format!("http://127.0.0.1:{port}"))? })
    }

    /// Returns the state of the agent.
    ///
    /// # Errors
    /// [`Failure`] when it does not run or does not answer.
    pub async fn healthz(&self) -> Result<Healthz, Failure> {
        self.http.call(Call::get(HEALTHZ_PATH).timeout(TIMEOUT)).await
    }

    /// Returns one entry for each configured pipeline, serving or not.
    ///
    /// # Errors
    /// [`Failure`] when it does not run or does not answer.
    pub async fn models(&self) -> Result<Vec<PipelineEntry>, Failure> {
        self.http.call(Call::get(MODELS_PATH).timeout(TIMEOUT)).await
    }

    /// Asks the agent to update itself; how it goes stands in its state. `token` is the control
    /// token, which only the user who installed Link can read.
    ///
    /// # Errors
    /// [`Failure`] when it does not run or an update is under way.
    pub async fn update(&self, token: Secret, request: &UpdateRequest) -> Result<(), Failure> {
        let call = Call::post(UPDATE_PATH).json(request).timeout(TIMEOUT);
        self.http.with_bearer(token).call_for_status(call).await
    }
}
