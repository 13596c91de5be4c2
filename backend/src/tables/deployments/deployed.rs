//! The models that are on a device.

use link_protocol::{
    id::{DeploymentId, DeviceId, ModelId},
    report::ModelReport,
};

use crate::{
    database::{Store, StoreError, column::parse, read, sql},
    domain::deployment::DeploymentRecord,
    tables::deployments::{DeploymentView, row::ViewRow},
};

impl Store {
    /// Finds the newest deployment of a model on a device.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn newest_deployment(
        &self,
        device: DeviceId,
        model: ModelId,
    ) -> Result<Option<DeploymentId>, StoreError> {
        let id: Option<String> = read!(self, |pool| {
            sql::query_scalar(
                "SELECT deployment_id FROM deployments \
                 WHERE device_id = $1 AND model_id = $2 AND newest",
            )
            .bind(device.to_string())
            .bind(model.to_string())
            .fetch_optional(pool)
            .await?
        });
        id.as_deref().map(parse).transpose()
    }

    /// Lists, for each model on a device, its deployment and the device's last report about the
    /// model.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn deployed_models(
        &self,
        device: DeviceId,
    ) -> Result<Vec<(DeploymentRecord, Option<ModelReport>)>, StoreError> {
        let rows: Vec<ViewRow> = read!(self, |pool| {
            sql::query_as(
                "SELECT p.*, TRUE AS current, s.report AS serving, a.name AS publisher, \
                 o.name AS model_name, o.facts AS model_facts, CAST(NULL AS TEXT) AS device_name \
                 FROM deployments p JOIN models o ON o.model_id = p.model_id \
                 JOIN accounts a ON a.account_id = o.account_id \
                 LEFT JOIN model_states s \
                 ON s.device_id = p.device_id AND s.model_id = p.model_id \
                 WHERE p.device_id = $1 AND p.deployment_id = (SELECT MAX(n.deployment_id) \
                 FROM deployments n WHERE n.device_id = p.device_id AND n.model_id = p.model_id \
                 AND n.state = 'completed' AND NOT n.removed)",
            )
            .bind(device.to_string())
            .fetch_all(pool)
            .await?
        });
        let view = |row| DeploymentView::try_from(row).map(|view| (view.record, view.serving));
        rows.into_iter().map(view).collect()
    }
}
