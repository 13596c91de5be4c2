//! The preparations of the devices' owner for sending commands: logs in, registers a model, and
//! deploys it to each device. Devices report the deployment as done without a download.

use std::sync::Arc;

use anyhow::Context as _;
use link_client::{
    backend::{self, BackendClient},
    http::Http,
};
use link_protocol::{
    backend_api::{
        account::LoginRequest,
        deployment::{CreateDeployment, ProxyWish},
        model::CreateModel,
    },
    command::Sha256Hex,
    id::{DeviceId, ModelId},
    secret::Secret,
};
use tokio::task::JoinSet;

use crate::{args::Login, bench::first_line};

const MODEL: &str = "link-load";
/// Concurrent deployment requests.
const AT_ONCE: usize = 16;

/// Logs in.
pub(super) async fn login(url: &str, login: &Login) -> anyhow::Result<Arc<BackendClient>> {
    let http = Http::new(url)?;
    let password = Secret::new(first_line(&login.password_file)?);
    let request = LoginRequest { email: login.email.clone(), password };
    let tokens = backend::login(&http, &request).await.context("the login failed")?;
    Ok(Arc::new(BackendClient::new(http, tokens, None)))
}

/// Returns the load test's model; registers it if it is missing.
pub(super) async fn model(owner: &BackendClient) -> anyhow::Result<ModelId> {
    let models = owner.models().await.context("failed to list the models")?;
    if let Some(model) = models.iter().find(|model| model.name == MODEL && model.owned) {
        return Ok(model.model_id);
    }
    let request = CreateModel {
        name: MODEL.to_owned(),
        file_name: "link-load.gguf".parse().context("a file name")?,
        url: Some("http://127.0.0.1:9/link-load.gguf".to_owned()),
        sha256: Some(Sha256Hex::from_digest(&[0; 32])),
        size_bytes: Some(1),
        plugin: "language_model".to_owned(),
        shared: false,
    };
    Ok(owner.create_model(&request).await.context("failed to register the model")?.model_id)
}

/// Deploys `model` to each of `devices` that does not have it.
pub(super) async fn deploy(
    owner: &Arc<BackendClient>,
    model: ModelId,
    devices: &[DeviceId],
) -> anyhow::Result<usize> {
    let current = owner.current_deployments(None, Some(model)).await;
    let current = current.context("failed to list the deployments")?;
    let has = |device: &DeviceId| {
        current.iter().any(|deployment| {
            deployment.device_id == *device
                && deployment.state == link_protocol::deployment::DeploymentState::Completed
        })
    };
    let (mut under_way, mut made) = (JoinSet::new(), 0);
    for device in devices.iter().copied().filter(|device| !has(device)) {
        if under_way.len() == AT_ONCE
            && let Some(done) = under_way.join_next().await
        {
            done.context("a deployment was aborted")??;
        }
        let owner = Arc::clone(owner);
        under_way.spawn(async move {
            let request = CreateDeployment {
                model_id: model,
                device_id: device,
                port: None,
                alias: None,
                serve: false,
                proxy: ProxyWish::default(),
                settings: None,
            };
            let key = uuid::Uuid::from_u128(rand::random()).to_string();
            let made = owner.deploy(&request, &key).await;
            made.with_context(|| format!("the model was not deployed to {device}")).map(drop)
        });
        made += 1;
    }
    while let Some(done) = under_way.join_next().await {
        done.context("a deployment was aborted")??;
    }
    Ok(made)
}
