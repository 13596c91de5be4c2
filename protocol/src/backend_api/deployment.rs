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
    /// Changes of the features of the serving proxy.
    #[serde(default, skip_serializing_if = "ProxyWish::is_empty")]
    pub proxy: ProxyWish,
    /// Values for settings of the model's plugin; the device checks them before it downloads anything. Absent: the
    /// settings of the previous deployment, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<Settings>,
}

/// Changes of the features of the serving proxy for a model. An absent feature stays as in the previous deployment; it is on
/// for the first. A request with an unknown feature is refused.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(from = "KnownWish")]
pub struct ProxyWish {
    /// Whether web pages of the allowlist may call the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cors: Option<bool>,
    /// Whether the token usage of each inference is reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub telemetry: Option<bool>,
}

impl ProxyWish {
    /// Returns whether no feature changes.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.cors.is_none() && self.telemetry.is_none()
    }

    /// Returns the features of a deployment after one with the features `before`, if any.
    #[must_use]
    pub fn after(self, before: Option<ProxyFeatures>) -> ProxyFeatures {
        let before = before.unwrap_or_default();
        ProxyFeatures {
            cors: self.cors.unwrap_or(before.cors),
            telemetry: self.telemetry.unwrap_or(before.telemetry),
        }
    }
}

/// What a request may name. The schema of [`ProxyWish`] is also that of answers, to which later versions add members.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KnownWish {
    #[serde(default)]
    cors: Option<bool>,
    #[serde(default)]
    telemetry: Option<bool>,
}

impl From<KnownWish> for ProxyWish {
    fn from(KnownWish { cors, telemetry }: KnownWish) -> Self {
        Self { cors, telemetry }
    }
}

impl From<ProxyFeatures> for ProxyWish {
    fn from(ProxyFeatures { cors, telemetry }: ProxyFeatures) -> Self {
        Self { cors: Some(cors), telemetry: Some(telemetry) }
    }
}

/// A deployment and its state. Its alias, port, settings and proxy features are the requested ones. Once the deployment has
/// failed or was cancelled, they are those in force on the device, if the model is there.
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
    /// The features of the serving proxy for the model.
    #[serde(default)]
    pub proxy: ProxyFeatures,
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
    /// Whether nothing of the deployment is left: the model was removed from the device, or a person has seen that the
    /// deployment failed or was cancelled. Pages do not list it.
    #[serde(default)]
    pub removed: bool,
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
