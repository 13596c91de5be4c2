//! What is on a device by its deployments, and how it gets back what it has lost of that.

use jiff::Timestamp;
use link_protocol::{id::DeviceId, report::ModelReport};

use crate::{
    database::{Store, StoreError, read, sql, write},
    domain::{deployment::DeploymentRecord, refusal::Refusal},
    failure::Failure,
    tables::{
        DeploymentView, NewDeployment, commands,
        deployments::{
            of_device, remove,
            row::{ViewRow, insert},
        },
    },
};

impl Store {
    /// Lists, for each model, the deployment by which it is on a device, and what the device last
    /// reported of it.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn deployed_models(
        &self,
        device: DeviceId,
    ) -> Result<Vec<(DeploymentRecord, Option<ModelReport>)>, StoreError> {
        let rows: Vec<ViewRow> = read!(self, |pool| {
            sql::query_as(
                "SELECT p.*, TRUE AS current, s.report AS serving, a.name AS publisher \
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

    /// Stores the deployment that gives a device back what it has lost. The one before counts as
    /// removed, so that the model is given back once.
    ///
    /// # Errors
    /// As for [`Store::deploy`].
    pub async fn give_back(
        &self,
        device: DeviceId,
        now: Timestamp,
        make: impl Fn(&[DeploymentRecord]) -> Result<NewDeployment, Refusal> + Send + Sync,
    ) -> Result<(), Failure> {
        write!(self, |db| {
            let before = of_device(db, device).await?;
            let NewDeployment { record, command } = make(&before)?;
            remove(db, device, record.model, now).await?;
            let key = format!("deploy:{}", record.id);
            commands::place(db, record.command, device, &command, &key, now).await?;
            insert(db, &record).await?;
        });
        Ok(())
    }
}
