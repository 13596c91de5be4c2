//! The local API of the agent on the loopback interface (specification, section 4.2).

mod document;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use self::document::document;
use crate::{
    command::Alias,
    deployment::DeploymentState,
    id::{DeviceId, ModelId, PipelineId},
    port::Port,
    registration::TransportType,
    report::{LifecycleStatus, ModelState},
    update::{UpdateOutcome, UpdateProgress},
};

/// The path of [`Healthz`].
pub const HEALTHZ_PATH: &str = "/healthz";

/// The path of the list of [`PipelineEntry`].
pub const MODELS_PATH: &str = "/models";

/// Where the agent is asked to update itself, by a [`crate::update::UpdateRequest`].
pub const UPDATE_PATH: &str = "/update";

/// Where one pipeline is removed, its files included, by a `DELETE`.
pub const PIPELINE_PATH: &str = "/models/{pipeline_id}";

/// Where a pipeline is asked to serve, by a `POST`.
pub const SERVE_PATH: &str = "/models/{pipeline_id}/serve";

/// Where a pipeline is asked to stop serving, by a `POST`.
pub const STOP_PATH: &str = "/models/{pipeline_id}/stop";

/// Where the deployment of a pipeline's model is ended, by a `POST`.
pub const CANCEL_DEPLOY_PATH: &str = "/models/{pipeline_id}/cancel-deploy";

/// The stream of server-sent events: [`STATE_EVENT`] at once and after each change.
pub const EVENTS_PATH: &str = "/events";

/// The name of the event whose data is a [`Healthz`].
pub const STATE_EVENT: &str = "state";

/// The path of the measurements, in the text format of Prometheus.
pub const METRICS_PATH: &str = "/metrics";

/// Where whoever listens proves that it knows the control token, by a [`Proof`] over the `nonce` of
/// the query.
pub const PROOF_PATH: &str = "/proof";

/// The answer at [`PROOF_PATH`]: a keyed digest over the port and the nonce, in base64url.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Proof {
    pub proof: String,
}

/// What a running agent writes for the programs of its user.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Listening {
    /// The port that its local API has on 127.0.0.1.
    pub port: u16,
    /// Its process.
    pub pid: u32,
}

/// How often the stream of events says that it lives when it has nothing to say.
pub const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Returns where `template`, one of the paths of this module, is for `pipeline`.
#[must_use]
pub fn path_of(template: &str, pipeline: PipelineId) -> String {
    template.replace("{pipeline_id}", &pipeline.to_string())
}

/// `GET /healthz`: the state of the agent.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Healthz {
    pub status: LifecycleStatus,
    #[schema(value_type = String)]
    pub agent_version: semver::Version,
    /// The release channel; `stable` is not shown to people.
    pub channel: String,
    pub device_id: DeviceId,
    pub transport: TransportState,
    pub models: Vec<ModelHealth>,
    pub deployments: Vec<DeploymentProgress>,
    /// The update under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update: Option<UpdateProgress>,
    /// What became of the last update.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_update: Option<UpdateOutcome>,
    /// Deprecated since 1.0.17: reflects only what an explicit START_SERVING started. Ask
    /// `GET /models` for an entry whose `is_serving` is true.
    #[schema(deprecated)]
    pub currently_serving: bool,
    /// Deprecated since 1.0.17: reflects only what an explicit START_SERVING started.
    #[schema(deprecated, value_type = Option<String>)]
    pub model_id: Option<ModelId>,
}

impl Healthz {
    /// Returns what every user of the machine may see: the fields that are named for it, and nothing
    /// that tells of files, processes or reasons.
    #[must_use]
    pub fn for_everybody(self) -> Self {
        let open = |model| ModelHealth { detail: None, engine_pid: None, ..model };
        let models = self.models.into_iter().map(open).collect();
        Self { models, update: None, last_update: None, ..self }
    }
}

/// The connection to the control plane.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct TransportState {
    pub r#type: TransportType,
    pub state: ConnectionState,
}

/// Whether the command channel works.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConnectionState {
    Connecting,
    Connected,
    /// The backend does not know the device any more; it must register again.
    Refused,
}

/// One model as `/healthz` shows it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct ModelHealth {
    pub model_id: ModelId,
    pub pipeline_id: PipelineId,
    pub alias: Alias,
    pub state: ModelState,
    pub health: EngineHealth,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The engine's process, while there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine_pid: Option<u32>,
}

/// Health of an engine.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum EngineHealth {
    Healthy,
    Starting,
    /// It does not answer, or there is no process (specification, section 7).
    Unhealthy,
}

/// A deployment under way.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct DeploymentProgress {
    pub model_id: ModelId,
    pub state: DeploymentState,
    /// Of the model file, and of the engine where one has to be downloaded first.
    pub progress: Progress,
    /// The build of the engine that is being downloaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
}

/// Bytes done of a total.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Progress {
    pub bytes_done: u64,
    pub bytes_total: u64,
}

/// `GET /models`: one entry for each configured servable pipeline, serving or not
/// (specification, section 2.2).
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct PipelineEntry {
    pub pipeline_id: PipelineId,
    pub alias: Alias,
    pub port: Port,
    pub host: String,
    pub is_serving: bool,
}

/// What is known of a model whose deployment is to end: its pipeline, if it was set up before, and
/// the deployment, if one is under way.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct CancelledDeploy {
    pub pipeline: Option<PipelineEntry>,
    pub deployment: Option<DeploymentProgress>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_its_pipeline() {
        let pipeline = PipelineId::from_uuid(uuid::Uuid::from_u128(7));
        let path = path_of(CANCEL_DEPLOY_PATH, pipeline);
        assert_eq!(path, "/models/pip_00000000000000000000000000000007/cancel-deploy");
    }
}
