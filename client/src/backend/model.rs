//! Models.

use crate::{
    backend::{BackendClient, CallError},
    http::Call,
};
use link_protocol::{
    agent_api::PREFIX,
    backend_api::model::{ChangeModel, CreateModel, Model},
    id::ModelId,
};

impl BackendClient {
    /// Creates a model from its description. Afterwards its file is uploaded, or devices download
    /// it from its URL.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn create_model(&self, request: &CreateModel) -> Result<Model, CallError> {
        self.call(|| Call::post(format!("{PREFIX}/models")).json(request)).await
    }

    /// Changes the name or the sharing of a model.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn change_model(
        &self,
        model: ModelId,
        change: &ChangeModel,
    ) -> Result<Model, CallError> {
        self.call(|| Call::patch(format!("{PREFIX}/models/{model}")).json(change)).await
    }

    /// Returns every model that the account may deploy.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn models(&self) -> Result<Vec<Model>, CallError> {
        self.all(&format!("{PREFIX}/models")).await
    }

    /// Returns one model.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn model(&self, model: ModelId) -> Result<Model, CallError> {
        self.call(|| Call::get(format!("{PREFIX}/models/{model}"))).await
    }

    /// Deletes a model that is not deployed anywhere.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn delete_model(&self, model: ModelId) -> Result<(), CallError> {
        self.call_for_status(|| Call::delete(format!("{PREFIX}/models/{model}"))).await
    }
}
