//! The desired state of a device: its completed deployments whose models were not removed, served as the device last
//! reported. A device that lost its state, or was reset to an older one, gets the lost models back. Failed and expired
//! work is not part of the desired state.

use jiff::Timestamp;
use link_protocol::{
    backend_api::deployment::CreateDeployment,
    id::{AccountId, CommandId, DeploymentId},
    report::ModelReport,
};

use crate::{
    app::{App, deploying},
    domain::{
        deploy::Made,
        desired::{self, Lost},
        device::DeviceRecord,
        refusal::Refusal,
    },
    failure::AppError,
    host::{metrics, random},
};

impl App {
    /// Deploys again the models that `device` should have and does not list. This happens once for each loss: if the
    /// new deployment fails, the owner sees it and decides.
    ///
    /// # Errors
    /// [`AppError::Store`].
    pub(super) async fn give_back(
        &self,
        device: &DeviceRecord,
        listed: &[ModelReport],
        now: Timestamp,
    ) -> Result<(), AppError> {
        let current = self.store.deployed_models(device.id).await?;
        let is_listed = |model| listed.iter().any(|report| report.model_id == model);
        if current.iter().all(|(deployment, _)| is_listed(deployment.model)) {
            return Ok(());
        }
        let unfinished = self.store.unfinished_commands(device.id).await?;
        for lost in desired::lost(current, listed, &unfinished) {
            let model = lost.deployment.model;
            match self.give_back_one(device.account, lost, now).await {
                Ok(()) => {
                    tracing::info!(device = %device.id, %model, "deploys again what was lost");
                }
                Err(error @ AppError::Store(_)) => return Err(error),
                Err(error) => {
                    tracing::warn!(device = %device.id, %model, "what was lost stays so: {error}");
                }
            }
        }
        Ok(())
    }

    async fn give_back_one(
        &self,
        account: AccountId,
        lost: Lost,
        now: Timestamp,
    ) -> Result<(), AppError> {
        let before = lost.deployment;
        let model = self.store.model(before.model).await?.ok_or(Refusal::NotFound("model"))?;
        let file = model.file()?;
        let allowlist = self.current_allowlist(account).await?;
        let wish = CreateDeployment {
            model_id: before.model,
            device_id: before.device,
            port: Some(before.port),
            alias: Some(before.alias),
            serve: lost.served,
            proxy: before.proxy.into(),
            settings: Some(before.settings),
        };
        let made = Made { wish, model, file, allowlist, now };
        let ids = (DeploymentId::from_uuid(random::uuid()), CommandId::from_uuid(random::uuid()));
        deploying::give_back(&self.store, account, &made, ids).await?;
        metrics::command_placed();
        self.ring_device(before.device);
        Ok(())
    }
}
