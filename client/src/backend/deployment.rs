//! Deployments of models to devices.

use link_protocol::{
    agent_api::PREFIX,
    backend_api::deployment::{CreateDeployment, Deployment},
    id::{DeploymentId, DeviceId, ModelId},
};

use crate::{
    backend::{BackendClient, CallError},
    http::Call,
};

impl BackendClient {
    /// Deploys or redeploys a model. Calls with the same `idempotency_key` create one deployment.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn deploy(
        &self,
        request: &CreateDeployment,
        idempotency_key: &str,
    ) -> Result<Deployment, CallError> {
        self.call(|| {
            Call::post(format!("{PREFIX}/deployments"))
                .header("idempotency-key", idempotency_key)
                .json(request)
        })
        .await
    }

    /// Returns a deployment.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn deployment(&self, deployment: DeploymentId) -> Result<Deployment, CallError> {
        self.call(|| Call::get(format!("{PREFIX}/deployments/{deployment}"))).await
    }

    /// Returns the newest deployment of each model on each device, or only those of one device or
    /// one model.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn current_deployments(
        &self,
        device: Option<DeviceId>,
        model: Option<ModelId>,
    ) -> Result<Vec<Deployment>, CallError> {
        let device = device.map(|device| format!("&device_id={device}")).unwrap_or_default();
        let model = model.map(|model| format!("&model_id={model}")).unwrap_or_default();
        self.all(&format!("{PREFIX}/deployments?current=true{device}{model}")).await
    }

    /// Cancels an unfinished deployment.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn cancel_deployment(
        &self,
        deployment: DeploymentId,
    ) -> Result<Deployment, CallError> {
        self.call(|| Call::post(format!("{PREFIX}/deployments/{deployment}/cancel"))).await
    }
}
