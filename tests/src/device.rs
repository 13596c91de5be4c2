//! A real agent with a temporary home.

use std::{
    net::TcpListener,
    path::PathBuf,
    process::{Command, Output},
};

use link_client::local::LocalClient;
use link_platform::{checkpoint::KILL_AT, paths::Roots};
use link_protocol::{
    backend_api::deployment::Deployment,
    id::DeviceId,
    identity::Identity,
    key::{EnrolmentKey, KeyKind},
    local_api::{Healthz, ModelHealth, PipelineEntry},
    port::Port,
    report::ModelState,
};

use crate::{
    backend::TestBackend,
    engines,
    namespace::Namespace,
    program::{self, Running},
    wait::until,
};

/// A device with its agent.
pub struct TestDevice {
    pub id: DeviceId,
    pub local: LocalClient,
    pub local_port: u16,
    running: Option<Running>,
    /// The command prefix that starts the programs, if the device has its own network or limits.
    started_by: Vec<String>,
    home: tempfile::TempDir,
    environment: Vec<(String, String)>,
}

/// Actions of a backend and a device together.
impl TestBackend {
    /// Uploads the tiny model, deploys it on a free port, and waits until the model serves.
    pub async fn serve_tiny(&self, device: &TestDevice) -> Deployment {
        let model = self.upload("tiny", engines::model("tiny.gguf")).await;
        let deployment = self.deploy(model.model_id, device.id, free_port(), true).await;
        self.serving(deployment.deployment_id, true).await
    }
}

impl TestDevice {
    /// Installs the engine, registers a device with a new key and starts its agent.
    pub async fn start(backend: &TestBackend) -> Self {
        let mut device = Self::register(backend).await;
        device.run(&[]);
        backend.online(device.id, true).await;
        device
    }

    /// Creates a temporary home with the engine. The device is not registered yet.
    ///
    /// # Panics
    /// Panics if the home cannot be created.
    #[must_use]
    pub fn unregistered() -> Self {
        Self::unregistered_at(tempfile::tempdir().unwrap())
    }

    /// Like [`Self::unregistered`], with a home whose path is too long for a UNIX socket.
    ///
    /// # Panics
    /// Panics if the home cannot be created.
    #[must_use]
    pub fn unregistered_deep_down() -> Self {
        let mut folder = tempfile::Builder::new();
        Self::unregistered_at(folder.prefix(&"deep-".repeat(20)).tempdir().unwrap())
    }

    fn unregistered_at(home: tempfile::TempDir) -> Self {
        link_client::install_crypto();
        engines::install(home.path());
        let local_port = free_port().get();
        let local = LocalClient::of(&Roots::below(home.path()));
        let id = "dev_00000000000000000000000000000000".parse().unwrap();
        Self { id, local, local_port, home, running: None, started_by: vec![], environment: vec![] }
    }

    /// Registers a device with a new key. Its agent does not run.
    ///
    /// # Panics
    /// Panics if the `link` command fails.
    pub async fn register(backend: &TestBackend) -> Self {
        let mut device = Self::unregistered();
        device.register_at(backend).await;
        device
    }

    /// Registers this device with a new key.
    ///
    /// # Panics
    /// Panics if the `link` command fails.
    pub async fn register_at(&mut self, backend: &TestBackend) {
        let key = backend.key(KeyKind::Registration).await;
        let output = self.register_with(&backend.url, &key);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        self.id = self.identity().device_id;
    }

    /// Runs every later program of this device in the network `network`. The test cannot reach the
    /// device's local API then.
    pub fn live_in(&mut self, network: &Namespace) {
        self.started_by.splice(0..0, network.prefix());
    }

    /// Runs every later program of this device without root privileges, so that the program sees
    /// other users' processes only as any user does. Works only as root.
    pub fn live_without_privileges(&mut self) {
        let words = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"];
        self.started_by.extend(words.map(str::to_owned));
    }

    /// Limits every later program of this device to `limit` file descriptors.
    pub fn limit_descriptors(&mut self, limit: u32) {
        let limit = format!("--nofile={limit}:{limit}");
        self.started_by.extend(["prlimit".to_owned(), limit, "--".to_owned()]);
    }

    /// Writes the configuration of the agent.
    ///
    /// # Panics
    /// Panics if the configuration cannot be written.
    pub fn configure(&self, config: &serde_json::Value) {
        let folder = self.home.path().join("config");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("agent.json"), config.to_string()).unwrap();
    }

    /// Runs `link register` with a key in the environment.
    ///
    /// # Panics
    /// Panics if the command cannot be run.
    pub fn register_with(&self, backend: &str, key: &EnrolmentKey) -> Output {
        self.link()
            .args(["register", "--backend", backend])
            .env("LINK_REGISTRATION_KEY", key.expose())
            .output()
            .unwrap()
    }

    /// Returns a `link` command for this device.
    #[must_use]
    pub fn link(&self) -> Command {
        let mut command = self.program("link");
        command
            .env_remove("LINK_REGISTRATION_KEY")
            .env_remove("LINK_FLEET_KEY")
            .env("LINK_HOME", self.home.path())
            .env("LINK_LOCAL_PORT", self.local_port.to_string())
            .env("LINK_ENGINE_THREADS", "1");
        command
    }

    fn program(&self, name: &str) -> Command {
        let program = program::path(name);
        match self.started_by.split_first() {
            None => Command::new(program),
            Some((first, more)) => {
                let mut command = Command::new(first);
                command.args(more).arg(program);
                command
            }
        }
    }

    /// Sets an environment variable for every later start of the agent.
    pub fn set(&mut self, name: &str, value: &str) {
        self.environment.push((name.to_owned(), value.to_owned()));
    }

    /// Starts the agent.
    pub fn run(&mut self, environment: &[(&str, &str)]) {
        let mut command = self.program("link-agent");
        command
            .env("LINK_HOME", self.home.path())
            .env("LINK_LOCAL_PORT", self.local_port.to_string())
            .env("LINK_ENGINE_THREADS", "1")
            .env("LINK_ENGINE_CONTEXT", "1024")
            .env("LINK_LOG", "info")
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .envs(environment.iter().copied());
        self.running = Some(Running::start(command, &self.home.path().join("agent.log")));
    }

    /// Starts the agent so that it kills itself at a checkpoint.
    pub fn run_until(&mut self, checkpoint: &str) {
        self.run(&[(KILL_AT, checkpoint)]);
    }

    /// Returns the output of the agent so far.
    #[must_use]
    pub fn output(&self) -> String {
        self.running.as_ref().map(Running::output).unwrap_or_default()
    }

    /// Suspends the agent with SIGSTOP, so that it no longer receives anything.
    ///
    /// # Panics
    /// Panics if the agent does not run.
    pub fn freeze(&self) {
        let stopped = Command::new("kill").args(["-STOP", &self.agent_pid().to_string()]).status();
        assert!(stopped.unwrap().success());
    }

    /// Kills the agent with SIGKILL.
    pub fn kill(&mut self) {
        self.running = None;
    }

    /// Waits until the agent has ended on its own.
    pub async fn died(&mut self) {
        let running = self.running.as_mut().unwrap();
        for _ in 0..2400 {
            if running.reap() {
                self.running = None;
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(25)).await;
        }
        panic!("the agent did not reach the checkpoint");
    }

    /// Returns the temporary home.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.home.path().to_owned()
    }

    /// Returns the identity of the device.
    ///
    /// # Panics
    /// Panics if the device is not registered.
    #[must_use]
    pub fn identity(&self) -> Identity {
        let path = self.home.path().join("state/identity.json");
        Identity::parse(&std::fs::read_to_string(path).unwrap()).unwrap()
    }

    /// Returns the process id of the agent.
    ///
    /// # Panics
    /// Panics if the agent does not run.
    #[must_use]
    pub fn agent_pid(&self) -> u32 {
        self.running.as_ref().unwrap().id()
    }

    /// Waits until the agent answers with its state.
    pub async fn healthz(&self) -> Healthz {
        until("the local API", || async { self.local.healthz().await.ok() }).await
    }

    /// Returns the only model of the device.
    ///
    /// # Panics
    /// Panics if the device has none or several.
    pub async fn model(&self) -> ModelHealth {
        let mut health = self.healthz().await;
        assert_eq!(health.models.len(), 1, "{:?}", health.models);
        health.models.remove(0)
    }

    /// Waits until the first model of the device serves.
    pub async fn serves(&self) {
        until("the model to serve", || async {
            let health = self.healthz().await;
            health.models.first().filter(|model| model.state == ModelState::Serving).map(|_| ())
        })
        .await;
    }

    /// Waits until the agent answers with its list of pipelines.
    pub async fn pipelines(&self) -> Vec<PipelineEntry> {
        until("the local API", || async { self.local.models().await.ok() }).await
    }

    /// Returns every file below the folder of models.
    #[must_use]
    pub fn model_files(&self) -> Vec<PathBuf> {
        files_below(&self.home.path().join("state/models"))
    }
}

impl Drop for TestDevice {
    /// Ends the guard too: a guard that `link start` has detached would outlive a failed test.
    fn drop(&mut self) {
        let guard = std::fs::read_to_string(self.home.path().join("state/guard.pid"));
        if let Ok(pid) = guard {
            drop(Command::new("kill").args(["-9", pid.trim()]).status());
        }
    }
}

/// The ports that tests name: below those that a system gives to whoever asks for any port, a test beside this one included.
const NAMED_PORTS: std::ops::Range<u16> = 10_240..32_768;

/// Returns a port that is currently free and that no program gets by chance.
///
/// # Panics
/// Panics if no free port is found.
#[must_use]
pub fn free_port() -> Port {
    let mut ports = (0..1_000).map(|_| Port::try_from(rand::random_range(NAMED_PORTS)).unwrap());
    ports.find(|port| is_free(*port)).expect("a free port")
}

/// Returns whether a port is free.
#[must_use]
pub fn is_free(port: Port) -> bool {
    TcpListener::bind(("127.0.0.1", port.get())).is_ok()
}

/// Returns whether a process exists and is not a zombie.
#[must_use]
pub fn is_alive(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.contains(") Z") && !stat.contains(") X"))
}

fn files_below(folder: &std::path::Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return vec![] };
    let mut files = vec![];
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(files_below(&path));
        } else {
            files.push(path);
        }
    }
    files
}
