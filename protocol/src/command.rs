//! Typed commands that a backend sends to a device (specification, section 2.5).
//!
//! A payload is parsed into a [`Command`] before anything runs. There is no REMOVE_MODEL:
//! UNINSTALL_MODEL replaces it.

mod lane;
mod text;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use self::{
    lane::{InvalidLane, Lane},
    text::{Alias, InvalidAlias, InvalidSha256, Sha256Hex},
};

use crate::{
    allowlist::Allowlist,
    file_name::FileName,
    id::{DeploymentId, ModelId, PipelineId},
    limits,
    plugin::Settings,
    port::Port,
};

/// A command with its payload.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(tag = "type", content = "payload", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Command {
    DeployModel(DeployModel),
    UpdateModel(DeployModel),
    CancelDeploy(CancelDeploy),
    StartServing(StartServing),
    StopServing(StopServing),
    RepairServing(RepairServing),
    UpdatePipeline(UpdatePipeline),
    UninstallModel(UninstallModel),
    UpdateAgent(UpdateAgent),
}

/// Puts a model on the device and sets up its pipeline.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct DeployModel {
    pub deployment_id: DeploymentId,
    /// The id of the pipeline. A command whose `config` has a different id is rejected.
    pub pipeline_id: PipelineId,
    pub model: ModelFile,
    pub config: ServingConfig,
    /// Whether to serve the model as soon as it is deployed.
    pub serve: bool,
}

/// A model file: its source, and its checksum for verification.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ModelFile {
    pub model_id: ModelId,
    pub file_name: FileName,
    /// The URL of the file; absent if the backend itself has the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The hexadecimal SHA-256 of the whole file.
    pub sha256: Sha256Hex,
    pub size_bytes: u64,
}

/// The configuration with which a device serves a model.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ServingConfig {
    pub pipeline_id: PipelineId,
    pub model_id: ModelId,
    /// The name of the model for clients, in the `model` field or as a path prefix.
    pub alias: Alias,
    /// The plugin whose engine runs the model, such as `language_model`.
    pub plugin: String,
    pub port: Port,
    pub allowlist: Allowlist,
    #[serde(default)]
    pub proxy: ProxyFeatures,
    /// Values for settings of the plugin.
    #[serde(default, skip_serializing_if = "Settings::is_empty")]
    pub settings: Settings,
}

/// The features of the serving proxy for a model, each independent of the other (specification, section 1).
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct ProxyFeatures {
    /// Lets web pages of the allowlist call the model. Otherwise no web page can.
    #[serde(default = "on")]
    pub cors: bool,
    /// Reports the token usage of each inference.
    #[serde(default = "on")]
    pub telemetry: bool,
}

impl Default for ProxyFeatures {
    fn default() -> Self {
        Self { cors: true, telemetry: true }
    }
}

const fn on() -> bool {
    true
}

/// Cancels an unfinished deployment.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct CancelDeploy {
    pub deployment_id: DeploymentId,
    pub model_id: ModelId,
}

/// Starts serving a deployed model.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct StartServing {
    pub pipeline_id: PipelineId,
    pub model_id: ModelId,
    /// The new serving port; absent: keep the current port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<Port>,
}

/// Stops serving a model; it stays deployed.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct StopServing {
    pub pipeline_id: PipelineId,
    pub model_id: ModelId,
}

/// Restarts a serving pipeline in place with the corrected allowlist (specification, section 4.1).
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct RepairServing {
    pub pipeline_id: PipelineId,
    pub model_id: ModelId,
    pub allowlist: Allowlist,
    /// The new serving port; absent: keep the current port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<Port>,
}

/// Replaces the configuration of a pipeline.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct UpdatePipeline {
    /// The id of the pipeline. A command whose `config` has a different id is rejected.
    pub pipeline_id: PipelineId,
    pub config: ServingConfig,
}

/// Stops serving a model, then deletes it from the device.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct UninstallModel {
    pub pipeline_id: PipelineId,
    pub model_id: ModelId,
}

/// Replaces the agent with another version.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct UpdateAgent {
    pub version: semver::Version,
}

impl Command {
    /// Returns the name of the command's type on the wire.
    #[must_use]
    pub const fn kind(&self) -> CommandKind {
        match self {
            Self::DeployModel(_) => CommandKind::DeployModel,
            Self::UpdateModel(_) => CommandKind::UpdateModel,
            Self::CancelDeploy(_) => CommandKind::CancelDeploy,
            Self::StartServing(_) => CommandKind::StartServing,
            Self::StopServing(_) => CommandKind::StopServing,
            Self::RepairServing(_) => CommandKind::RepairServing,
            Self::UpdatePipeline(_) => CommandKind::UpdatePipeline,
            Self::UninstallModel(_) => CommandKind::UninstallModel,
            Self::UpdateAgent(_) => CommandKind::UpdateAgent,
        }
    }

    /// Returns the model that the command concerns; `None` for an update of the agent.
    #[must_use]
    pub const fn model(&self) -> Option<ModelId> {
        match self {
            Self::DeployModel(deploy) | Self::UpdateModel(deploy) => Some(deploy.model.model_id),
            Self::CancelDeploy(cancel) => Some(cancel.model_id),
            Self::StartServing(start) => Some(start.model_id),
            Self::StopServing(stop) => Some(stop.model_id),
            Self::RepairServing(repair) => Some(repair.model_id),
            Self::UpdatePipeline(update) => Some(update.config.model_id),
            Self::UninstallModel(uninstall) => Some(uninstall.model_id),
            Self::UpdateAgent(_) => None,
        }
    }

    /// Returns the serving port in the command, if any.
    #[must_use]
    pub const fn port(&self) -> Option<Port> {
        match self {
            Self::DeployModel(deploy) | Self::UpdateModel(deploy) => Some(deploy.config.port),
            Self::StartServing(start) => start.port,
            Self::RepairServing(repair) => repair.port,
            Self::UpdatePipeline(update) => Some(update.config.port),
            Self::CancelDeploy(_)
            | Self::StopServing(_)
            | Self::UninstallModel(_)
            | Self::UpdateAgent(_) => None,
        }
    }

    /// Returns the payload of a command that starts a deployment; `None` for any other command.
    #[must_use]
    pub const fn deployment(&self) -> Option<&DeployModel> {
        match self {
            Self::DeployModel(deploy) | Self::UpdateModel(deploy) => Some(deploy),
            Self::CancelDeploy(_)
            | Self::StartServing(_)
            | Self::StopServing(_)
            | Self::RepairServing(_)
            | Self::UpdatePipeline(_)
            | Self::UninstallModel(_)
            | Self::UpdateAgent(_) => None,
        }
    }

    /// Returns the command's lane.
    #[must_use]
    pub fn lane(&self) -> Lane {
        match self {
            Self::DeployModel(deploy) | Self::UpdateModel(deploy) => {
                Lane::Model(deploy.model.model_id)
            }
            Self::StartServing(start) => Lane::Model(start.model_id),
            Self::StopServing(stop) => Lane::Model(stop.model_id),
            Self::RepairServing(repair) => Lane::Model(repair.model_id),
            Self::UpdatePipeline(update) => Lane::Model(update.config.model_id),
            Self::UninstallModel(uninstall) => Lane::Model(uninstall.model_id),
            Self::CancelDeploy(_) => Lane::Control,
            Self::UpdateAgent(_) => Lane::Agent,
        }
    }

    /// Returns whether the newer command `self` supersedes the waiting command `older`. For each model, and for updates
    /// of the agent, only the latest request counts.
    #[must_use]
    pub fn replaces(&self, older: &Self) -> bool {
        if self.lane() != older.lane() {
            return false;
        }
        match self {
            Self::RepairServing(_) => matches!(older, Self::RepairServing(_)),
            Self::StartServing(_) | Self::StopServing(_) => {
                matches!(older, Self::StartServing(_) | Self::StopServing(_))
            }
            Self::UninstallModel(_) => matches!(
                older,
                Self::StartServing(_)
                    | Self::StopServing(_)
                    | Self::RepairServing(_)
                    | Self::UninstallModel(_)
            ),
            Self::UpdateAgent(_) => matches!(older, Self::UpdateAgent(_)),
            Self::DeployModel(_)
            | Self::UpdateModel(_)
            | Self::CancelDeploy(_)
            | Self::UpdatePipeline(_) => false,
        }
    }

    /// Returns whether `older` would undo the effect of the newer command `self` by arriving after it: restore a removed
    /// model, an earlier file or an earlier allowlist, or remove a model that was deployed again.
    #[must_use]
    pub fn outdates(&self, older: &Self) -> bool {
        let is_whole = match self {
            Self::DeployModel(_)
            | Self::UpdateModel(_)
            | Self::UpdatePipeline(_)
            | Self::UninstallModel(_) => true,
            Self::CancelDeploy(_)
            | Self::StartServing(_)
            | Self::StopServing(_)
            | Self::RepairServing(_)
            | Self::UpdateAgent(_) => false,
        };
        let would_undo = matches!(
            older,
            Self::DeployModel(_)
                | Self::UpdateModel(_)
                | Self::UpdatePipeline(_)
                | Self::RepairServing(_)
                | Self::UninstallModel(_)
        );
        self.replaces(older) || (is_whole && would_undo && self.lane() == older.lane())
    }

    /// Returns whether the identifiers that the payload contains twice are equal (specification, section 7: "pipeline
    /// identifier does not match its configuration").
    #[must_use]
    pub fn identifiers_match(&self) -> bool {
        match self {
            Self::DeployModel(deploy) | Self::UpdateModel(deploy) => {
                deploy.pipeline_id == deploy.config.pipeline_id
                    && deploy.model.model_id == deploy.config.model_id
            }
            Self::UpdatePipeline(update) => update.pipeline_id == update.config.pipeline_id,
            Self::CancelDeploy(_)
            | Self::StartServing(_)
            | Self::StopServing(_)
            | Self::RepairServing(_)
            | Self::UninstallModel(_)
            | Self::UpdateAgent(_) => true,
        }
    }
}

/// The types of commands.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum CommandKind {
    DeployModel,
    UpdateModel,
    CancelDeploy,
    StartServing,
    StopServing,
    RepairServing,
    UpdatePipeline,
    UninstallModel,
    UpdateAgent,
}

impl CommandKind {
    /// All types, in the order of their declaration.
    pub const ALL: [Self; 9] = [
        Self::DeployModel,
        Self::UpdateModel,
        Self::CancelDeploy,
        Self::StartServing,
        Self::StopServing,
        Self::RepairServing,
        Self::UpdatePipeline,
        Self::UninstallModel,
        Self::UpdateAgent,
    ];

    /// Returns the name of the type in messages.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DeployModel => "DEPLOY_MODEL",
            Self::UpdateModel => "UPDATE_MODEL",
            Self::CancelDeploy => "CANCEL_DEPLOY",
            Self::StartServing => "START_SERVING",
            Self::StopServing => "STOP_SERVING",
            Self::RepairServing => "REPAIR_SERVING",
            Self::UpdatePipeline => "UPDATE_PIPELINE",
            Self::UninstallModel => "UNINSTALL_MODEL",
            Self::UpdateAgent => "UPDATE_AGENT",
        }
    }

    /// The longest time that a command may wait for its acknowledgement (specification, sections 3.1 and 3.3).
    #[must_use]
    pub const fn expiry(self) -> Duration {
        match self {
            Self::DeployModel | Self::UpdateModel => limits::QUEUED_DEPLOYMENT_EXPIRY,
            Self::RepairServing => limits::REPAIR_EXPIRY,
            Self::CancelDeploy
            | Self::StartServing
            | Self::StopServing
            | Self::UpdatePipeline
            | Self::UninstallModel
            | Self::UpdateAgent => limits::COMMAND_EXPIRY,
        }
    }

    /// The longest time that a device may spend on an acknowledged command. After that the command has failed.
    #[must_use]
    pub const fn execution_deadline(self) -> Duration {
        match self {
            Self::DeployModel | Self::UpdateModel | Self::UpdateAgent => {
                limits::DEPLOY_EXECUTION_DEADLINE
            }
            Self::CancelDeploy
            | Self::StartServing
            | Self::StopServing
            | Self::RepairServing
            | Self::UpdatePipeline
            | Self::UninstallModel => limits::EXECUTION_DEADLINE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_type_is_the_one_in_messages() {
        for kind in CommandKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
    }
}
