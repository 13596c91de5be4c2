//! A device moves to another account: it stops serving, keeps nothing of the old account, and serves for the new one.
//! This works while the device runs, while it is off, and even if it is killed repeatedly.

use std::{
    io::Write as _,
    process::{Command, Output, Stdio},
    sync::Arc,
    time::Duration,
};

use link_client::{
    backend::{self, BackendClient},
    http::Http,
};
use link_protocol::{
    backend_api::{account::LoginRequest, deployment::Deployment},
    counter::Epoch,
    key::KeyKind,
    local_api::ConnectionState,
    secret::Secret,
};
use link_tests::{
    backend::{EMAIL, PASSWORD, TestBackend},
    chat,
    device::{TestDevice, free_port, is_alive, is_free},
    engines::{self, TINY_REPLY},
    program,
    wait::PATIENCE,
};
use serde_json::json;

/// The account that gets the device.
const BOB: &str = "bob@example.com";

/// A backend, and a device of the first account that serves a model.
struct Scene {
    /// Its client belongs to the account that currently has the device.
    backend: TestBackend,
    ada: Arc<BackendClient>,
    device: TestDevice,
    served: Deployment,
}

impl Scene {
    async fn new(arguments: &[&str], config: Option<&serde_json::Value>) -> Self {
        let backend = TestBackend::start_with(arguments).await;
        let ada = Arc::clone(&backend.owner);
        let mut device = TestDevice::register(&backend).await;
        if let Some(config) = config {
            device.configure(config);
        }
        device.run(&[]);
        backend.online(device.id, true).await;
        let served = backend.serve_tiny(&device).await;
        Self { backend, ada, device, served }
    }

    /// Transfers the device to bob, as ada does with the `link` command.
    async fn transfer(&mut self) {
        let bob = another_account(&self.backend).await;
        self.backend.owner = bob;
        let key = self.backend.key(KeyKind::Registration).await;
        let home = tempfile::tempdir().unwrap();
        let login = ["login", "--email", EMAIL, "--password-stdin", "--backend", &self.backend.url];
        assert!(link(home.path(), &login, PASSWORD).status.success());
        let id = self.device.id.to_string();
        let words = ["device", "transfer", &id, "--key-file", "-", "--yes", "--json"];
        let output = link(home.path(), &words, key.expose());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(told, json!({ "transferred": id }));
        let gone = self.ada.device(self.device.id).await.unwrap_err().to_string();
        assert!(gone.contains("not-found") || gone.contains("404"), "{gone}");
    }

    /// Checks that the device is bob's and has nothing of ada's.
    async fn is_bobs(&self) {
        let Self { backend, device, served, .. } = self;
        backend.online(device.id, true).await;
        assert_eq!(device.identity().epoch, Epoch(2));
        assert_eq!(device.healthz().await.models, []);
        assert_eq!(device.model_files(), Vec::<std::path::PathBuf>::new());
        assert!(is_free(served.port));
        let model = served.model_id.to_string();
        let own = model.trim_start_matches("mdl_");
        for path in below(&device.home().join("state")) {
            let is_log = path.ends_with("agent.log");
            let bytes = std::fs::read(&path).unwrap_or_default();
            let names = bytes.windows(own.len()).any(|window| window == own.as_bytes());
            assert!(is_log || !names, "{} names what ada had", path.display());
        }
        for nothing in [
            backend.owner.current_deployments(Some(device.id), None).await.unwrap().len(),
            self.ada.current_deployments(Some(device.id), None).await.unwrap().len(),
        ] {
            assert_eq!(nothing, 0);
        }
    }

    /// Bob deploys a model, and it answers.
    async fn serves_for_bob(&self) {
        let deployment = self.backend.serve_tiny(&self.device).await;
        let response = chat::ask(deployment.port, None, false).await.unwrap();
        assert_eq!(chat::whole(response).await.0, TINY_REPLY);
        assert_eq!(self.device.model_files().len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_that_serves_begins_anew_in_the_account_that_it_is_given_to() {
    let mut scene = Scene::new(&[], None).await;
    let before = scene.device.model().await.engine_pid.unwrap();
    let agent = scene.device.agent_pid();
    scene.transfer().await;
    scene.is_bobs().await;
    assert!(!is_alive(before), "ada's engine has ended");
    assert_eq!(scene.device.agent_pid(), agent, "the agent went on");
    scene.serves_for_bob().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_that_was_off_learns_of_its_transfer_when_it_is_back() {
    let mut scene = Scene::new(&[], None).await;
    scene.device.kill();
    // A command that ada sends now is never done.
    let wanted = scene.backend.upload("late", engines::model("tiny.gguf")).await;
    let late = scene.backend.deploy(wanted.model_id, scene.device.id, free_port(), true).await;
    scene.transfer().await;
    assert!(scene.ada.command(late.command_id).await.is_err());
    scene.device.run(&[]);
    scene.is_bobs().await;
    scene.serves_for_bob().await;
    let output = scene.device.output();
    assert!(!output.contains(&late.command_id.to_string()), "{output}");
}

/// The checkpoints at which the agent may be killed while it deletes the data of the old account.
const CHECKPOINTS: [&str; 4] =
    ["handover-sessions", "handover-journal", "handover-cleared", "handover-done"];

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_killed_anywhere_in_its_handover_ends_in_the_same_state() {
    for checkpoint in CHECKPOINTS {
        let mut scene = Scene::new(&[], None).await;
        scene.device.kill();
        scene.transfer().await;
        scene.device.run_until(checkpoint);
        scene.device.died().await;
        scene.device.run(&[]);
        scene.is_bobs().await;
        scene.serves_for_bob().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_on_zenoh_learns_of_its_transfer_and_goes_on_over_zenoh() {
    let endpoint = format!("tls/127.0.0.1:{}", free_port());
    let transport = json!({ "schema_version": "2.1", "transport": { "type": "zenoh" } });
    let mut scene = Scene::new(&["--zenoh-listen", &endpoint], Some(&transport)).await;
    scene.transfer().await;
    // The device is refused at its next heartbeat, and waits before it connects again.
    let begun = async {
        while scene.device.identity().epoch == Epoch(1) {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(2 * PATIENCE, begun).await.unwrap();
    scene.is_bobs().await;
    assert_eq!(scene.device.healthz().await.transport.state, ConnectionState::Connected);
    scene.serves_for_bob().await;
}

async fn another_account(backend: &TestBackend) -> Arc<BackendClient> {
    let mut command = Command::new(program::path("link-backend"));
    command.args(["create-account", BOB, "--data"]).arg(backend.data());
    assert!(fed(command, PASSWORD).status.success());
    let http = Http::new(&backend.url).unwrap();
    let request = LoginRequest { email: BOB.to_owned(), password: Secret::new(PASSWORD) };
    let tokens = backend::login(&http, &request).await.unwrap();
    Arc::new(BackendClient::new(http, tokens, None))
}

fn link(home: &std::path::Path, words: &[&str], input: &str) -> Output {
    let mut command = Command::new(program::path("link"));
    command.args(words).env("LINK_HOME", home);
    fed(command, input)
}

/// Runs a command with one line of input.
fn fed(mut command: Command, line: &str) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(format!("{line}\n").as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn below(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(below(&path));
        } else {
            files.push(path);
        }
    }
    files
}
