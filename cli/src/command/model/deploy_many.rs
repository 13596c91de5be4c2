//! `link model deploy --select`: one deployment for each matching device.

use link_client::backend::BackendClient;
use link_protocol::{
    backend_api::{device::Device, model::Model},
    exit_code::ExitCode,
};

use crate::{
    args::Deploy,
    command::{
        bulk::{self, Step},
        model::stage::{Stage, stage, wish},
    },
    context::{Context, idempotency_key},
    error::CliError,
    error_code::ErrorCode,
    resolve, wait,
};

pub(super) async fn run(
    context: &Context,
    backend: &BackendClient,
    devices: Vec<Device>,
    arguments: &Deploy,
    model: &Model,
) -> Result<(), CliError> {
    let what = format!("deploy {}", resolve::told(model));
    let serve = arguments.serve;
    let patience = arguments.wait.wait.then_some(arguments.wait.timeout);
    let send = async |device: &Device| {
        let request = wish(arguments, model, device.device_id);
        let created = backend.deploy(&request, &idempotency_key()).await?;
        Ok(created.deployment_id)
    };
    let look = async |id| {
        let Ok(deployment) = wait::tolerate(backend.deployment(id).await)? else {
            return Ok(Step::Running(id));
        };
        match stage(&deployment, serve) {
            Stage::Waiting(_) => Ok(Step::Running(id)),
            Stage::Done => Ok(Step::Done(format!("port {}", deployment.port))),
            Stage::Failed(why) => {
                Err(CliError::new(ExitCode::Failed, ErrorCode::DeploymentFailed, why))
            }
        }
    };
    bulk::run(context, &what, devices, patience, send, look).await
}
