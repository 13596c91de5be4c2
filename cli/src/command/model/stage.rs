//! The requests that create a deployment, and the stage of a deployment.

use link_protocol::{
    backend_api::{
        deployment::{CreateDeployment, Deployment, ProxyWish},
        model::Model,
        operation::Work,
    },
    deployment::DeploymentState,
    id::DeviceId,
    plugin::Settings,
    report::ModelState,
};

use crate::args::Deploy;

/// The stage of a deployment that a caller waits for.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Stage {
    Waiting(&'static str),
    Done,
    Failed(String),
}

/// Returns the request for a deployment on one device.
pub(super) fn wish(
    arguments: &Deploy,
    model: &Model,
    device: DeviceId,
    settings: Option<Settings>,
) -> CreateDeployment {
    CreateDeployment {
        model_id: model.model_id,
        device_id: device,
        port: arguments.port,
        alias: arguments.naming.alias.clone(),
        serve: arguments.serve,
        proxy: proxy(arguments),
        settings,
    }
}

/// Returns the request for deployments on many devices.
pub(super) fn work(arguments: &Deploy, model: &Model, settings: Option<Settings>) -> Work {
    Work::Deploy {
        model_id: model.model_id,
        port: arguments.port,
        alias: arguments.naming.alias.clone(),
        serve: arguments.serve,
        proxy: proxy(arguments),
        settings,
    }
}

/// Returns the changes of the proxy's features that were asked for.
fn proxy(arguments: &Deploy) -> ProxyWish {
    let wish = |on: bool, off: bool| (on || off).then_some(on);
    ProxyWish {
        cors: wish(arguments.cors, arguments.no_cors),
        telemetry: wish(arguments.telemetry, arguments.no_telemetry),
    }
}

/// Returns the stage of a deployment. `serve` says whether the caller waits until the model is served.
pub(super) fn stage(deployment: &Deployment, serve: bool) -> Stage {
    let reason = || deployment.reason.clone().unwrap_or_else(|| "no reason was given".to_owned());
    match deployment.state {
        DeploymentState::Queued => Stage::Waiting("queued"),
        DeploymentState::Downloading => Stage::Waiting("downloading"),
        DeploymentState::Configuring => Stage::Waiting("configuring"),
        DeploymentState::Failed => Stage::Failed(format!("the deployment failed: {}", reason())),
        DeploymentState::Cancelled => {
            Stage::Failed(format!("the deployment was cancelled: {}", reason()))
        }
        DeploymentState::Completed if !serve => Stage::Done,
        DeploymentState::Completed => match &deployment.serving {
            Some(serving) if serving.is_serving => Stage::Done,
            Some(serving) if serving.state == ModelState::NotServing => match &serving.detail {
                Some(why) => {
                    Stage::Failed(format!("the model is deployed but cannot be served: {why}"))
                }
                None => Stage::Waiting("starting to serve"),
            },
            Some(_) | None => Stage::Waiting("starting to serve"),
        },
    }
}

#[cfg(test)]
mod tests {
    use link_protocol::{
        backend_api::deployment::Serving, command::ProxyFeatures, local_api::Progress as Bytes,
    };

    use super::*;

    #[test]
    fn a_deployment_that_is_to_serve_is_done_once_it_serves() {
        let mut deployment = deployment(DeploymentState::Completed);
        assert_eq!(stage(&deployment, false), Stage::Done);
        assert_eq!(stage(&deployment, true), Stage::Waiting("starting to serve"));
        deployment.serving = Some(serving(ModelState::Serving, None));
        assert_eq!(stage(&deployment, true), Stage::Done);
        deployment.serving = Some(serving(ModelState::NotServing, Some("port 8080 is in use")));
        assert_eq!(
            stage(&deployment, true),
            Stage::Failed("the model is deployed but cannot be served: port 8080 is in use".into())
        );
    }

    #[test]
    fn a_failure_gives_its_reason() {
        let failed = deployment(DeploymentState::Failed);
        assert_eq!(stage(&failed, false), Stage::Failed("the deployment failed: disk full".into()));
    }

    fn serving(state: ModelState, detail: Option<&str>) -> Serving {
        Serving {
            state,
            is_serving: state == ModelState::Serving,
            port: "8080".parse().unwrap(),
            detail: detail.map(str::to_owned),
        }
    }

    fn deployment(state: DeploymentState) -> Deployment {
        let id = "00000000000000000000000000000001";
        let now = jiff::Timestamp::UNIX_EPOCH;
        Deployment {
            deployment_id: format!("dep_{id}").parse().unwrap(),
            model_id: format!("mdl_{id}").parse().unwrap(),
            model_name: None,
            task: None,
            publisher: None,
            device_id: format!("dev_{id}").parse().unwrap(),
            device_name: None,
            command_id: format!("cmd_{id}").parse().unwrap(),
            alias: "m".parse().unwrap(),
            port: "8080".parse().unwrap(),
            settings: Settings::default(),
            proxy: ProxyFeatures::default(),
            state,
            reason: Some("disk full".into()),
            progress: Bytes { bytes_done: 0, bytes_total: 0 },
            allowlist_digest: String::new(),
            stale: false,
            current: true,
            removed: false,
            serving: None,
            created_at: now,
            updated_at: now,
        }
    }
}
