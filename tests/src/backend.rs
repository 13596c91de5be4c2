//! A real backend with a temporary data folder, and the calls that a test makes as its owner.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use link_client::{
    backend::{self, BackendClient, Tokens},
    http::Http,
};
use link_protocol::{
    allowlist::Origin,
    backend_api::{
        account::{LoginRequest, SetupRequest},
        command::CommandInfo,
        deployment::{CreateDeployment, Deployment, ProxyWish},
        key::CreateKey,
        model::{CreateModel, Model},
    },
    command::Sha256Hex,
    id::{CommandId, DeploymentId, DeviceId, ModelId},
    key::{EnrolmentKey, KeyKind},
    port::Port,
    secret::Secret,
};
use sha2::{Digest as _, Sha256};

use crate::{program, program::Running, wait::until};

/// The origin of the workspace in tests without a browser.
pub const WORKSPACE: &str = "https://workspace.example";

/// The only origin on the allowlist of an old deployment.
pub const OLD_ORIGIN: &str = "https://old.example";

/// The e-mail of the first account.
pub const EMAIL: &str = "owner@example.com";

/// The password of the first account.
pub const PASSWORD: &str = "correct horse battery";

/// A running backend.
pub struct TestBackend {
    pub url: String,
    /// A client that is logged in as the owner of the first account.
    pub owner: Arc<BackendClient>,
    running: Running,
    data: tempfile::TempDir,
    arguments: Vec<String>,
    /// A library that the program loads before its own.
    preloaded: Option<PathBuf>,
}

/// A running backend without an account.
pub struct NewBackend {
    pub url: String,
    running: Running,
    data: tempfile::TempDir,
    arguments: Vec<String>,
}

impl NewBackend {
    /// Starts a backend whose allowlist contains only [`OLD_ORIGIN`].
    ///
    /// # Panics
    /// Panics if the backend does not start.
    pub async fn start() -> Self {
        Self::start_on("127.0.0.1:0", &[]).await
    }

    async fn start_on(listen: &str, arguments: &[&str]) -> Self {
        link_client::install_crypto();
        let (data, running, arguments, url) = first_start(listen, arguments).await;
        Self { url, running, data, arguments }
    }

    /// Returns the token that the backend has written for whoever creates the first account.
    ///
    /// # Panics
    /// Panics if there is none.
    #[must_use]
    pub fn setup_token(&self) -> String {
        let file = self.data.path().join("data/setup-token");
        std::fs::read_to_string(file).unwrap().trim().to_owned()
    }

    /// Logs in as the first account, which somebody has created with [`EMAIL`] and [`PASSWORD`].
    ///
    /// # Panics
    /// Panics if the backend refuses.
    pub async fn log_in(self) -> TestBackend {
        let login = LoginRequest { email: EMAIL.to_owned(), password: Secret::new(PASSWORD) };
        let tokens = backend::login(&Http::new(&self.url).unwrap(), &login).await.unwrap();
        self.owned_by(tokens)
    }

    fn owned_by(self, tokens: Tokens) -> TestBackend {
        let Self { url, running, data, arguments } = self;
        let owner = Arc::new(BackendClient::new(Http::new(&url).unwrap(), tokens, None));
        TestBackend { url, owner, running, data, arguments, preloaded: None }
    }
}

impl TestBackend {
    /// Starts a backend whose allowlist contains only [`OLD_ORIGIN`], and creates its first
    /// account.
    pub async fn start() -> Self {
        Self::start_with(&[]).await
    }

    /// Starts a backend with additional arguments.
    ///
    /// # Panics
    /// Panics if the backend does not start.
    pub async fn start_with(arguments: &[&str]) -> Self {
        Self::start_on("127.0.0.1:0", arguments).await
    }

    /// Starts a backend that listens on the address `listen`.
    ///
    /// # Panics
    /// Panics if the backend does not start.
    pub async fn start_on(listen: &str, arguments: &[&str]) -> Self {
        let new = NewBackend::start_on(listen, arguments).await;
        let setup = SetupRequest {
            setup_token: Secret::new(new.setup_token()),
            email: EMAIL.to_owned(),
            password: Secret::new(PASSWORD),
        };
        let http = Http::new(&new.url).unwrap();
        let tokens = backend::set_up(&http, &setup).await.unwrap();
        new.owned_by(tokens)
    }

    /// Starts another backend, whose arguments name the database of this one. Its owner has the login of this one.
    ///
    /// # Panics
    /// Panics if the backend does not start.
    pub async fn beside(&self, arguments: &[&str]) -> Self {
        let (data, running, arguments, url) = first_start("127.0.0.1:0", arguments).await;
        let tokens = Tokens { access: self.owner.access_token(), refresh: None };
        let owner = Arc::new(BackendClient::new(Http::new(&url).unwrap(), tokens, None));
        Self { url, owner, data, arguments, running, preloaded: None }
    }

    /// Lets the program load a library before its own at each later start, or none.
    pub fn preload(&mut self, library: Option<PathBuf>) {
        self.preloaded = library;
    }

    /// Kills the backend with SIGKILL.
    pub fn kill(&mut self) {
        self.running.kill();
    }

    /// Restarts the backend with the same address and data.
    ///
    /// # Panics
    /// Panics if the backend does not start.
    pub async fn restart(&mut self) {
        self.running.kill();
        std::fs::remove_file(self.data.path().join("address")).unwrap();
        let listen = self.url.trim_start_matches("http://").to_owned();
        let library = self.preloaded.as_deref();
        self.running = launch(self.data.path(), &listen, &self.arguments, library);
        address(self.data.path()).await;
    }

    /// Returns the process id of the backend.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.running.id()
    }

    /// Returns the output of the backend so far.
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
    /// Panics if the backend refuses.
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
    /// Panics if the backend refuses.
    pub async fn upload(&self, name: &str, bytes: Vec<u8>) -> Model {
        self.upload_for("language_model", &format!("{name}.gguf"), name, bytes).await
    }

    /// Uploads a model that `plugin` serves, as the file `file_name`.
    ///
    /// # Panics
    /// Panics if the backend refuses.
    pub async fn upload_for(
        &self,
        plugin: &str,
        file_name: &str,
        name: &str,
        bytes: Vec<u8>,
    ) -> Model {
        let request = CreateModel {
            plugin: plugin.to_owned(),
            file_name: file_name.parse().unwrap(),
            ..describe(name)
        };
        let model = self.owner.create_model(&request).await.unwrap();
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

    /// Creates a model that devices download from `url`. The checksum is that of `bytes`.
    ///
    /// # Panics
    /// Panics if the backend refuses.
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
    /// Panics if the backend refuses.
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
            proxy: ProxyWish::default(),
            settings: None,
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

    /// Waits until the backend reports that a model serves, or, if not `wanted`, that it does not.
    pub async fn serving(&self, deployment: DeploymentId, wanted: bool) -> Deployment {
        until(if wanted { "the model to serve" } else { "the model to stop" }, || async {
            let found = self.owner.deployment(deployment).await.ok()?;
            let serving = found.serving.as_ref().is_some_and(|serving| serving.is_serving);
            (serving == wanted).then_some(found)
        })
        .await
    }

    /// Waits until a device is online, or, if not `wanted`, offline.
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

    /// Sets the allowlist of later deployments and repairs.
    ///
    /// # Panics
    /// Panics if the backend refuses.
    pub async fn allow(&self, origins: &[&str]) {
        let origins: Vec<Origin> = origins.iter().map(|origin| origin.parse().unwrap()).collect();
        self.owner.change_allowlist(|_| Some(origins.clone())).await.unwrap();
    }

    /// Repairs a model on a device and waits for the result.
    ///
    /// # Panics
    /// Panics if the backend refuses.
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

async fn first_start(
    listen: &str,
    arguments: &[&str],
) -> (tempfile::TempDir, Running, Vec<String>, String) {
    let data = tempfile::tempdir().unwrap();
    let arguments: Vec<String> = arguments.iter().map(|&word| word.to_owned()).collect();
    let running = launch(data.path(), listen, &arguments, None);
    let url = address(data.path()).await;
    (data, running, arguments, url)
}

fn launch(folder: &Path, listen: &str, arguments: &[String], preloaded: Option<&Path>) -> Running {
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
    if let Some(library) = preloaded {
        command.env("LD_PRELOAD", library);
    }
    Running::start(command, &folder.join("backend.log"))
}

async fn address(folder: &Path) -> String {
    let file = folder.join("address");
    let text = until("the backend to listen", || async {
        std::fs::read_to_string(&file).ok().filter(|text| !text.trim().is_empty())
    })
    .await;
    let address = text.trim();
    if address.starts_with("http") { address.to_owned() } else { format!("http://{address}") }
}
