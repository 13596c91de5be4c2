//! The local API of the agent on this machine (specification, section 4.2). Reads need no token;
//! actions need the control token, which only the user who installed Link can read.

use std::time::Duration;

use link_protocol::{
    id::PipelineId,
    local_api::{
        CANCEL_DEPLOY_PATH, CancelledDeploy, EVENTS_PATH, HEALTHZ_PATH, Healthz, MODELS_PATH,
        PIPELINE_PATH, PipelineEntry, SERVE_PATH, STOP_PATH, UPDATE_PATH, path_of,
    },
    secret::Secret,
    update::UpdateRequest,
};

use crate::http::{Call, Failure, Http, InvalidAddress};

mod states;

pub use states::States;

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

    /// Opens the stream of the agent's states: the first at once, then one after each change.
    ///
    /// # Errors
    /// [`Failure`] when it does not run or does not answer.
    pub async fn states(&self) -> Result<States, Failure> {
        let call = Call::get(EVENTS_PATH).timeout(TIMEOUT);
        Ok(States::new(self.http.exchange(call).await?))
    }

    /// Asks the agent to update itself; how it goes stands in its state.
    ///
    /// # Errors
    /// [`Failure`] when it does not run or an update is under way.
    pub async fn update(&self, token: Secret, request: &UpdateRequest) -> Result<(), Failure> {
        let call = Call::post(UPDATE_PATH).json(request).timeout(TIMEOUT);
        self.http.with_bearer(token).call_for_status(call).await
    }

    /// Asks the agent to serve a model; what comes of it stands in its state.
    ///
    /// # Errors
    /// [`Failure`] when it does not run or has no such pipeline.
    pub async fn serve(&self, token: Secret, id: PipelineId) -> Result<PipelineEntry, Failure> {
        let call = Call::post(path_of(SERVE_PATH, id)).timeout(TIMEOUT);
        self.http.with_bearer(token).call(call).await
    }

    /// Asks the agent to stop serving a model; what comes of it stands in its state.
    ///
    /// # Errors
    /// [`Failure`] when it does not run or has no such pipeline.
    pub async fn stop(&self, token: Secret, id: PipelineId) -> Result<PipelineEntry, Failure> {
        let call = Call::post(path_of(STOP_PATH, id)).timeout(TIMEOUT);
        self.http.with_bearer(token).call(call).await
    }

    /// Asks the agent to remove a model with its files; what comes of it stands in its state.
    ///
    /// # Errors
    /// [`Failure`] when it does not run or has no such pipeline.
    pub async fn remove(&self, token: Secret, id: PipelineId) -> Result<PipelineEntry, Failure> {
        let call = Call::delete(path_of(PIPELINE_PATH, id)).timeout(TIMEOUT);
        self.http.with_bearer(token).call(call).await
    }

    /// Asks the agent to end the deployment of a pipeline's model.
    ///
    /// # Errors
    /// [`Failure`] when it does not run, or neither has the pipeline nor deploys its model.
    pub async fn cancel_deploy(
        &self,
        token: Secret,
        id: PipelineId,
    ) -> Result<CancelledDeploy, Failure> {
        let call = Call::post(path_of(CANCEL_DEPLOY_PATH, id)).timeout(TIMEOUT);
        self.http.with_bearer(token).call(call).await
    }
}
