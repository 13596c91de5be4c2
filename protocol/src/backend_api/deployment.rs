//! Deployments of models to devices.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    account_name::AccountName,
    command::{Alias, ProxyFeatures},
    deployment::DeploymentState,
    id::{CommandId, DeploymentId, DeviceId, ModelId},
    local_api::Progress,
    port::Port,
    report::ModelState,
};

/// `POST /api/v1/deployments`: deploys or redeploys. Always with the allowlist of that moment: the
/// account's origins and the backend's defaults.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateDeployment {
    pub model_id: ModelId,
    pub device_id: DeviceId,
    /// Absent: the port of the deployment before, or 8080 for the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<Port>,
    /// Absent: the alias of the deployment before, or one made from the model's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alias: Option<Alias>,
    /// Whether to serve the model as soon as it is there.
    #[serde(default)]
    pub serve: bool,
    /// What the serving proxy does for the model; everything by default.
    #[serde(default)]
    pub proxy: ProxyFeatures,
}

/// A deployment and what became of it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Deployment {
    pub deployment_id: DeploymentId,
    pub model_id: ModelId,
    /// The account whose model it is: another one's when the model is, or was, shared.
    #[serde(default)]
    pub publisher: Option<AccountName>,
    pub device_id: DeviceId,
    pub command_id: CommandId,
    pub alias: Alias,
    pub port: Port,
    pub state: DeploymentState,
    /// Why it failed or was cancelled.
    pub reason: Option<String>,
    pub progress: Progress,
    /// The digest of the allowlist that the device uses, as far as the backend knows.
    pub allowlist_digest: String,
    /// Whether the allowlist lacks an origin of the account's or of the backend's defaults.
    pub stale: bool,
    /// The newest for its model and device.
    pub current: bool,
    pub serving: Option<Serving>,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

/// What the device last reported of the model.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Serving {
    pub state: ModelState,
    pub is_serving: bool,
    pub port: Port,
    pub detail: Option<String>,
}
