//! A real backend with a scratch data folder, and the calls that a test makes as its owner.

use std::{path::PathBuf, process::Command, sync::Arc};

use link_client::{
    backend::{self, BackendClient},
    http::Http,
};
use link_protocol::{
    allowlist::Origin,
    backend_api::{
        account::SetupRequest,
        command::CommandInfo,
        deployment::{CreateDeployment, Deployment},
        key::CreateKey,
        model::{CreateModel, Model},
    },
    command::{ProxyFeatures, Sha256Hex},
    id::{CommandId, DeploymentId, DeviceId, ModelId},
    key::{EnrolmentKey, KeyKind},
    port::Port,
    secret::Secret,
};
use sha2::{Digest as _, Sha256};

use crate::{program, program::Running, wait::until};

/// The origin that plays the workspace where no browser is involved.
pub const WORKSPACE: &str = "https://workspace.example";

/// The only origin on the allowlist of an old deployment.
pub const OLD_ORIGIN: &str = "https://old.example";

/// The e-mail of the first account.
pub const EMAIL: &str = "owner@example.com";

/// Its password.
pub const PASSWORD: &str = "correct horse battery";

/// A backend.
pub struct TestBackend {
    pub url: String,
    /// Calls as the owner of the first account.
    pub owner: Arc<BackendClient>,
    running: Running,
    data: tempfile::TempDir,
    arguments: Vec<String>,
}

impl TestBackend {
    /// Starts a backend whose allowlist knows only [`OLD_ORIGIN`], and creates its first account.
    pub async fn start() -> Self {
        Self::start_with(&[]).await
    }

    /// Starts a backend with more arguments.
    ///
    /// # Panics
    /// When it does not start.
    pub async fn start_with(arguments: &[&str]) -> Self {
        Self::start_on("127.0.0.1:0", arguments).await
    }

    /// Starts a backend that listens somewhere else.
    ///
    /// # Panics
    /// When it does not start.
    pub async fn start_on(listen: &str, arguments: &[&str]) -> Self {
        link_client::install_crypto();
        let data = tempfile::tempdir().unwrap();
        let arguments: Vec<String> = arguments.iter().map(|&word| word.to_owned()).collect();
        let running = launch(data.path(), listen, &arguments);
        let url = address(data.path()).await;
        let http = Http::new(&url).unwrap();
        let token = std::fs::read_to_string(data.path().join("data/setup-token")).unwrap();
        let setup = SetupRequest {
            setup_token: Secret::new(token.trim()),
            email: EMAIL.to_owned(),
            password: Secret::new(PASSWORD),
        };
        let tokens = backend::set_up(&http, &setup).await.unwrap();
        let owner = Arc::new(BackendClient::new(http, tokens, None));
        Self { url, owner, data, arguments, running }
    }

    /// Kills the backend with SIGKILL.
    pub fn kill(&mut self) {
        self.running.kill();
    }

    /// Starts it again on the same address and data.
    ///
    /// # Panics
    /// When it does not start.
    pub async fn restart(&mut self) {
        self.running.kill();
        std::fs::remove_file(self.data.path().join("address")).unwrap();
        let listen = self.url.trim_start_matches("http://").to_owned();
        self.running = launch(self.data.path(), &listen, &self.arguments);
        address(self.data.path()).await;
    }

    /// Returns the id of its process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.running.id()
    }

    /// Returns what the backend has printed.
    #[must_use]
    pub fn output(&self) -> String {
        self.running.output()
    }

    /// Returns the backend's data folder.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.data.path().join("data")
    }

    /// Creates a key.
    ///
    /// # Panics
    /// When the backend refuses.
    pub async fn key(&self, kind: KeyKind) -> EnrolmentKey {
        let request = CreateKey {
            kind,
            name: String::new(),
            expires_at: None,
            max_devices: None,
            tags: vec![],
        };
        self.owner.create_key(&request).await.unwrap().key
    }

    /// Uploads a model.
    ///
    /// # Panics
    /// When the backend refuses.
    pub async fn upload(&self, name: &str, bytes: Vec<u8>) -> Model {
        let model = self.owner.create_model(&describe(name)).await.unwrap();
        let url = format!("{}/api/v1/models/{}/content", self.url, model.model_id);
        let response = reqwest::Client::new()
            .put(url)
            .bearer_auth(self.owner.access_token().expose())
            .header("content-type", "application/octet-stream")
            .body(bytes)
            .send()
            .await
            .unwrap();
        assert!(response.status().is_success(), "{}", response.text().await.unwrap());
        model
    }

    /// Describes a model that devices fetch from `url`, whose right content is `bytes`.
    ///
    /// # Panics
    /// When the backend refuses.
    pub async fn model_at(&self, name: &str, url: &str, bytes: &[u8]) -> Model {
        let request = CreateModel {
            url: Some(url.to_owned()),
            sha256: Some(Sha256Hex::from_digest(&Sha256::digest(bytes))),
            size_bytes: Some(bytes.len() as u64),
            ..describe(name)
        };
        self.owner.create_model(&request).await.unwrap()
    }

    /// Deploys a model and returns at once.
    ///
    /// # Panics
    /// When the backend refuses.
    pub async fn deploy(
        &self,
        model: ModelId,
        device: DeviceId,
        port: Port,
        serve: bool,
    ) -> Deployment {
        let request = CreateDeployment {
            model_id: model,
            device_id: device,
            port: Some(port),
            alias: None,
            serve,
            proxy: ProxyFeatures::default(),
        };
        let key = uuid::Uuid::now_v7().to_string();
        self.owner.deploy(&request, &key).await.unwrap()
    }

    /// Waits until a deployment has ended.
    pub async fn ended(&self, deployment: DeploymentId) -> Deployment {
        until("the deployment to end", || async {
            let found = self.owner.deployment(deployment).await.ok()?;
            found.state.is_final().then_some(found)
        })
        .await
    }

    /// Waits until a command has its result.
    pub async fn result(&self, command: CommandId) -> CommandInfo {
        until("the result of a command", || async {
            let found = self.owner.command(command).await.ok()?;
            found.result.is_some().then_some(found)
        })
        .await
    }

    /// Waits until the backend knows that a model serves, or does not.
    pub async fn serving(&self, deployment: DeploymentId, wanted: bool) -> Deployment {
        until(if wanted { "the model to serve" } else { "the model to stop" }, || async {
            let found = self.owner.deployment(deployment).await.ok()?;
            let serving = found.serving.as_ref().is_some_and(|serving| serving.is_serving);
            (serving == wanted).then_some(found)
        })
        .await
    }

    /// Waits until a device is online, or is not.
    pub async fn online(&self, device: DeviceId, wanted: bool) {
        until(
            if wanted { "the device to be online" } else { "the device to be offline" },
            || async {
                let found = self.owner.device(device).await.ok()?;
                (found.online == wanted).then_some(())
            },
        )
        .await;
    }

    /// Sets the allowlist that deployments and repairs carry from now on.
    ///
    /// # Panics
    /// When the backend refuses.
    pub async fn allow(&self, origins: &[&str]) {
        let origins: Vec<Origin> = origins.iter().map(|origin| origin.parse().unwrap()).collect();
        self.owner.set_allowlist(origins).await.unwrap();
    }

    /// Repairs a model on a device and waits for the result.
    ///
    /// # Panics
    /// When the backend refuses.
    pub async fn repair(
        &self,
        model: ModelId,
        device: DeviceId,
        port: Option<Port>,
    ) -> CommandInfo {
        let key = uuid::Uuid::now_v7().to_string();
        let sent = self.owner.repair_serving(model, device, port, &key).await.unwrap();
        self.result(sent.command_id).await
    }
}

fn describe(name: &str) -> CreateModel {
    CreateModel {
        name: name.to_owned(),
        file_name: format!("{name}.gguf").parse().unwrap(),
        url: None,
        sha256: None,
        size_bytes: None,
        plugin: "language_model".to_owned(),
        shared: false,
    }
}

fn launch(folder: &std::path::Path, listen: &str, arguments: &[String]) -> Running {
    let mut command = Command::new(program::path("link-backend"));
    command
        .arg("serve")
        .arg("--data")
        .arg(folder.join("data"))
        .args(["--listen", listen])
        .arg("--address-file")
        .arg(folder.join("address"))
        .args(["--allowed-origin", OLD_ORIGIN])
        .args(arguments);
    Running::start(command, &folder.join("backend.log"))
}

async fn address(folder: &std::path::Path) -> String {
    let file = folder.join("address");
    let text = until("the backend to listen", || async {
        std::fs::read_to_string(&file).ok().filter(|text| !text.trim().is_empty())
    })
    .await;
    let address = text.trim();
    if address.starts_with("http") { address.to_owned() } else { format!("http://{address}") }
}
