//! Makes deployments: chooses the port and the alias of the model, and makes the command for the device.

use jiff::Timestamp;
use link_protocol::{
    allowlist::Allowlist,
    backend_api::deployment::CreateDeployment,
    command::{Alias, Command, DeployModel, ModelFile, ServingConfig},
    deployment::DeploymentState,
    id::{CommandId, DeploymentId, PipelineId},
    local_api::Progress,
    port::Port,
};

use crate::domain::{
    alias,
    deployment::{DEFAULT_PORT, DeploymentRecord},
    model::ModelRecord,
    refusal::Refusal,
};

/// A deployment to be stored, with the command for the device.
#[derive(Clone, Debug)]
pub struct NewDeployment {
    pub record: DeploymentRecord,
    pub command: Command,
}

/// The input of a new deployment.
#[derive(Clone, Debug)]
pub struct Made {
    pub wish: CreateDeployment,
    pub model: ModelRecord,
    pub file: ModelFile,
    pub allowlist: Allowlist,
    pub now: Timestamp,
}

impl Made {
    /// Returns the deployment and its command. The deployments of the device are ordered, newest first.
    ///
    /// # Errors
    /// [`Refusal::AliasTaken`] and [`Refusal::Invalid`].
    pub fn deployment(
        &self,
        (id, command): (DeploymentId, CommandId),
        before: &[DeploymentRecord],
    ) -> Result<NewDeployment, Refusal> {
        let previous = before.iter().find(|older| older.model == self.model.id);
        let default = Port::try_from(DEFAULT_PORT).map_err(|e| Refusal::invalid(e.to_string()))?;
        let port = self.wish.port.or(previous.map(|older| older.port)).unwrap_or(default);
        let alias = self.alias(before)?;
        let settings = self.wish.settings.clone();
        let settings =
            settings.or_else(|| previous.map(|older| older.settings.clone())).unwrap_or_default();
        let proxy = self.wish.proxy.after(previous.map(|older| older.proxy));
        let config = ServingConfig {
            pipeline_id: PipelineId::of(self.model.id),
            model_id: self.model.id,
            alias: alias.clone(),
            plugin: self.model.plugin.clone(),
            port,
            allowlist: self.allowlist.clone(),
            proxy,
            settings: settings.clone(),
        };
        let record = DeploymentRecord {
            id,
            model: self.model.id,
            device: self.wish.device_id,
            command,
            alias,
            port,
            state: DeploymentState::Queued,
            reason: None,
            progress: Progress { bytes_done: 0, bytes_total: self.file.size_bytes },
            allowlist: self.allowlist.clone(),
            proxy,
            settings,
            removed: false,
            created_at: self.now,
            updated_at: self.now,
        };
        let command = Command::DeployModel(DeployModel {
            deployment_id: id,
            pipeline_id: config.pipeline_id,
            model: self.file.clone(),
            config,
            serve: self.wish.serve,
        });
        Ok(NewDeployment { record, command })
    }

    fn alias(&self, before: &[DeploymentRecord]) -> Result<Alias, Refusal> {
        let taken: Vec<&Alias> = before
            .iter()
            .filter(|other| other.model != self.model.id && other.holds_alias())
            .map(|other| &other.alias)
            .collect();
        let previous = before.iter().find(|older| older.model == self.model.id);
        match &self.wish.alias {
            Some(alias) if taken.contains(&alias) => Err(Refusal::AliasTaken(alias.clone())),
            Some(alias) => Ok(alias.clone()),
            None => {
                let wanted = previous.map(|older| older.alias.clone());
                let wanted =
                    wanted.unwrap_or_else(|| alias::from_name(&self.model.name, self.model.id));
                Ok(alias::free(wanted, &taken))
            }
        }
    }
}
