//! What a device was meant to have and lost.

use jiff::Timestamp;
use link_protocol::{command::Lane, id::DeviceId, report::ModelReport};

use crate::{
    domain::{deployment::DeploymentRecord, refusal::Refusal},
    failure::Failure,
    store::{
        DeploymentView, NewDeployment, Store, StoreError, commands,
        deployments::{
            of_device, remove,
            row::{ViewRow, insert},
        },
        read, sql, write,
    },
};

/// A model that a device has by a deployment, and does not list any more.
#[derive(Clone, Debug)]
pub struct Lost {
    pub deployment: DeploymentRecord,
    /// Whether the device last said that it serves the model.
    pub served: bool,
}

impl Store {
    /// Lists the models that a device is meant to have and that are not among `listed`, unless a
    /// command that can still change is about them.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn lost_models(
        &self,
        device: DeviceId,
        listed: &[ModelReport],
    ) -> Result<Vec<Lost>, StoreError> {
        let rows: Vec<ViewRow> = read!(self, |pool| {
            sql::query_as(
                "SELECT p.*, TRUE AS current, s.report AS serving FROM deployments p \
                 LEFT JOIN model_states s \
                 ON s.device_id = p.device_id AND s.model_id = p.model_id \
                 WHERE p.device_id = $1 AND p.state = 'completed' AND NOT p.removed \
                 AND p.deployment_id = (SELECT MAX(n.deployment_id) FROM deployments n \
                 WHERE n.device_id = p.device_id AND n.model_id = p.model_id)",
            )
            .bind(device.to_string())
            .fetch_all(pool)
            .await?
        });
        let views: Result<Vec<_>, _> = rows.into_iter().map(DeploymentView::try_from).collect();
        let is_listed = |model| listed.iter().any(|report| report.model_id == model);
        let mut lost = views?;
        lost.retain(|view| !is_listed(view.record.model));
        if lost.is_empty() {
            return Ok(Vec::new());
        }
        let unfinished = self.unfinished_commands(device).await?;
        let is_busy =
            |model| unfinished.iter().any(|record| record.command.lane() == Lane::Model(model));
        lost.retain(|view| !is_busy(view.record.model));
        let lost = lost.into_iter().map(|view| Lost {
            served: view.serving.is_some_and(|report| report.is_serving),
            deployment: view.record,
        });
        Ok(lost.collect())
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
