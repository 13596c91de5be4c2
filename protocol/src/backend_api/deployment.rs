//! Deployments of models to devices.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    account_name::AccountName,
    command::{Alias, ProxyFeatures},
    deployment::DeploymentState,
    id::{CommandId, DeploymentId, DeviceId, ModelId},
    local_api::Progress,
    plugin::Settings,
    port::Port,
    report::ModelState,
    task::Task,
};

/// `POST /api/v1/deployments`: deploys or redeploys a model with the current allowlist: the
/// account's origins and the backend's defaults.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateDeployment {
    pub model_id: ModelId,
    pub device_id: DeviceId,
    /// Absent: the port of the previous deployment, or 8080 for the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<Port>,
    /// Absent: the alias of the previous deployment, or an alias derived from the model's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alias: Option<Alias>,
    /// Whether to serve the model as soon as it is deployed.
    #[serde(default)]
    pub serve: bool,
    /// The features of the serving proxy for the model. Absent: those of the previous deployment, or all for the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy: Option<ProxyFeatures>,
    /// Values for settings of the model's plugin; the device checks them before it downloads anything. Absent: the
    /// settings of the previous deployment, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<Settings>,
}

/// A deployment and its state.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Deployment {
    pub deployment_id: DeploymentId,
    pub model_id: ModelId,
    /// The name of the model, if it still exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_name: Option<String>,
    /// What the model is for, if the backend has read its file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<Task>,
    /// The account that owns the model: another account if the model is or was shared.
    #[serde(default)]
    pub publisher: Option<AccountName>,
    pub device_id: DeviceId,
    /// The name of the device, if it still exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_name: Option<String>,
    pub command_id: CommandId,
    pub alias: Alias,
    pub port: Port,
    /// Values for settings of the model's plugin.
    #[serde(default, skip_serializing_if = "Settings::is_empty")]
    pub settings: Settings,
    pub state: DeploymentState,
    /// Why the deployment failed or was cancelled.
    pub reason: Option<String>,
    pub progress: Progress,
    /// The digest of the allowlist that the device uses, as far as the backend knows.
    pub allowlist_digest: String,
    /// Whether the allowlist lacks an origin of the account or of the backend's defaults.
    pub stale: bool,
    /// Whether this is the newest deployment of the model on the device.
    pub current: bool,
    pub serving: Option<Serving>,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

/// The last report of the device about the model.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Serving {
    pub state: ModelState,
    pub is_serving: bool,
    pub port: Port,
    pub detail: Option<String>,
}
