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

/// The path to which a [`crate::update::UpdateRequest`] is posted, to update the agent.
pub const UPDATE_PATH: &str = "/update";

/// The path of one pipeline. `DELETE` removes the pipeline and its files.
pub const PIPELINE_PATH: &str = "/models/{pipeline_id}";

/// The path to which a `POST` makes a pipeline serve.
pub const SERVE_PATH: &str = "/models/{pipeline_id}/serve";

/// The path to which a `POST` makes a pipeline stop serving.
pub const STOP_PATH: &str = "/models/{pipeline_id}/stop";

/// The path to which a `POST` cancels the deployment of a pipeline's model.
pub const CANCEL_DEPLOY_PATH: &str = "/models/{pipeline_id}/cancel-deploy";

/// The path of the stream of server-sent events: one [`STATE_EVENT`] at once, and one after each change.
pub const EVENTS_PATH: &str = "/events";

/// The name of the event whose data is a [`Healthz`].
pub const STATE_EVENT: &str = "state";

/// The path of the metrics, in the text format of Prometheus.
pub const METRICS_PATH: &str = "/metrics";

/// The path where the listener proves that it knows the control token. The answer is a [`Proof`] over the `nonce` in
/// the query.
pub const PROOF_PATH: &str = "/proof";

/// The answer at [`PROOF_PATH`]: a keyed digest over the port and the nonce, in base64url.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Proof {
    pub proof: String,
}

/// The file that a running agent writes for the programs of its user.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Listening {
    /// The port of the local API on 127.0.0.1.
    pub port: u16,
    /// The process id of the agent.
    pub pid: u32,
}

/// The interval of keep-alive comments in an idle stream of events.
pub const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Fills `pipeline` into `template`, one of the paths of this module.
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
    /// The release channel. User interfaces do not show `stable`.
    pub channel: String,
    pub device_id: DeviceId,
    pub transport: TransportState,
    pub models: Vec<ModelHealth>,
    pub deployments: Vec<DeploymentProgress>,
    /// The update in progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update: Option<UpdateProgress>,
    /// The outcome of the last update.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_update: Option<UpdateOutcome>,
    /// What this device refuses to engines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub containment: Option<Containment>,
    /// Deprecated since 1.0.17: reflects only an explicit START_SERVING. Look in `GET /models` for an entry whose
    /// `is_serving` is true.
    #[schema(deprecated)]
    pub currently_serving: bool,
    /// Deprecated since 1.0.17: reflects only an explicit START_SERVING.
    #[schema(deprecated, value_type = Option<String>)]
    pub model_id: Option<ModelId>,
}

impl Healthz {
    /// Returns the part of the state that every user of the machine may see, without engine processes, plugins, failure
    /// reasons, updates and containment.
    #[must_use]
    pub fn for_everybody(self) -> Self {
        let open = |model| ModelHealth { detail: None, engine_pid: None, plugin: None, ..model };
        let models = self.models.into_iter().map(open).collect();
        Self { models, update: None, last_update: None, containment: None, ..self }
    }
}

/// The connection to the control plane.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct TransportState {
    /// The transport in use: HTTP also while a device with `transport.fallback` has no session with its router.
    pub r#type: TransportType,
    pub state: ConnectionState,
}

/// Whether the command channel works.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConnectionState {
    Connecting,
    Connected,
    /// The backend no longer knows the device. The device must register again.
    Refused,
}

/// The state of one model in `/healthz`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct ModelHealth {
    pub model_id: ModelId,
    pub pipeline_id: PipelineId,
    pub alias: Alias,
    /// The plugin whose engine runs the model. Absent in answers of older agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plugin: Option<String>,
    pub state: ModelState,
    pub health: EngineHealth,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The id of the engine's process, while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine_pid: Option<u32>,
}

/// What a device refuses to the engines of models. An older kernel refuses less, and other systems than Linux refuse
/// nothing.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Containment {
    /// To leave a process behind, and to exceed the limits of processes, memory and output.
    pub supervised: bool,
    /// To reach files of others.
    pub files: bool,
    /// To open connections.
    pub connections: bool,
    /// To listen on another port than its own.
    pub ports: bool,
    /// To send signals to other programs.
    pub signals: bool,
}

/// The health of an engine.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum EngineHealth {
    Healthy,
    Starting,
    /// The engine does not answer, or its process does not run (specification, section 7).
    Unhealthy,
}

/// A deployment in progress, or one that waits for its turn.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct DeploymentProgress {
    pub model_id: ModelId,
    /// The pipeline that the deployment makes, by which it is cancelled. Earlier agents do not name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipeline_id: Option<PipelineId>,
    pub state: DeploymentState,
    /// The progress of the downloads: of the model file, and of the engine if it must be downloaded first.
    pub progress: Progress,
    /// The build of the engine, while it is being downloaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
}

/// The transferred bytes and their total.
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

/// The answer to a cancellation of a deployment: the model's pipeline, if it has one, and the cancelled deployment, if
/// one was in progress.
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
