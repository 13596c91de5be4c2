//! `link run` on a device without an engine, interrupted at a random moment of the upload, the engine's installation,
//! the download or the start. The agent, the backend or the command is killed, and the same command then ends with an
//! answer. Nothing exists twice, and no file stays incomplete.
//!
//! `LINK_TEST_SEED` repeats a run. The test prints its seed. There are five interruptions by default, 30 with
//! `LINK_TEST_FULL`.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use link_protocol::{backend_api::deployment::Deployment, deployment::DeploymentState};
use link_tests::{
    backend::TestBackend,
    device::{TestDevice, free_port},
    engine_index::EngineIndexes,
    engines::{self, TINY_REPLY},
    release_server::{Fault, ReleaseServer},
    wait::until,
};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};

use crate::engine_download::without_engine;

/// The process to kill.
#[derive(Clone, Copy, Debug)]
enum Victim {
    Agent,
    Backend,
    Command,
}

/// A backend, a device without an engine, and a model file that is new for both.
struct Desk {
    backend: TestBackend,
    device: TestDevice,
    port: String,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_dies_at_whatever_moment_the_same_command_again_ends_with_an_answer() {
    let rounds = if std::env::var_os("LINK_TEST_FULL").is_some() { 30 } else { 5 };
    let seed = std::env::var("LINK_TEST_SEED").ok();
    let seed = seed.map_or_else(rand::random, |text| text.parse::<u64>().unwrap());
    eprintln!("LINK_TEST_SEED={seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let indexes = EngineIndexes::new();
    indexes.publish(1);
    let server = ReleaseServer::start(&indexes.folder(), "none", Fault::None).await;

    // Measure the duration without an interruption.
    let desk = Desk::new(&server.url, &indexes).await;
    let began = Instant::now();
    answers(&desk.run().output().unwrap());
    let whole = began.elapsed();
    desk.holds_everything_once("nothing died").await;

    for round in 0..rounds {
        let after = whole.mul_f64(random.random_range(0.0..1.0));
        let victim = [Victim::Agent, Victim::Backend, Victim::Command][random.random_range(0..3)];
        let what = format!("seed {seed}, round {round}: {victim:?} after {after:?} of {whole:?}");
        let mut desk = Desk::new(&server.url, &indexes).await;
        let first = desk.interrupted(victim, after).await;
        desk.has_ended_or_says_why(&what).await;
        if !first.status.success() {
            let said = String::from_utf8_lossy(&first.stderr).into_owned();
            let is_killed = first.status.code().is_none();
            assert!(is_killed || said.contains("hint: "), "{what}: no next step: {said}");
            answers(&desk.run().output().unwrap());
        }
        desk.holds_everything_once(&what).await;
    }
}

fn answers(ran: &Output) {
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
    assert_eq!(String::from_utf8_lossy(&ran.stdout), format!("{TINY_REPLY}\n"), "{said}");
}

impl Desk {
    async fn new(releases: &str, indexes: &EngineIndexes) -> Self {
        let backend = TestBackend::start().await;
        let mut device = without_engine(&backend, releases).await;
        device.set("LINK_DEV_RELEASE_KEYS", &indexes.trusted);
        device.run(&[]);
        backend.online(device.id, true).await;
        std::fs::write(device.home().join("tiny.gguf"), engines::model("tiny.gguf")).unwrap();
        Self { backend, device, port: free_port().to_string() }
    }

    fn run(&self) -> Command {
        let mut command = self.device.link();
        command
            .env("LINK_BACKEND_URL", &self.backend.url)
            .env("LINK_ACCESS_TOKEN", self.backend.owner.access_token().expose())
            .arg("run")
            .arg(self.device.home().join("tiny.gguf"))
            .args(["--port", &self.port, "Hello?"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs the command, kills the victim, and restarts it as a service manager does.
    async fn interrupted(&mut self, victim: Victim, after: Duration) -> Output {
        let mut child = self.run().spawn().unwrap();
        // The moment is random, so there is no condition to wait for.
        tokio::time::sleep(after).await;
        match victim {
            Victim::Agent => {
                self.device.kill();
                self.device.run(&[]);
            }
            Victim::Backend => self.backend.restart().await,
            Victim::Command => child.kill().unwrap(),
        }
        tokio::task::spawn_blocking(move || child.wait_with_output().unwrap()).await.unwrap()
    }

    /// All deployments, not only the newest of each model.
    async fn deployments(&self) -> Vec<Deployment> {
        let answer = reqwest::Client::new()
            .get(format!("{}/api/v1/deployments", self.backend.url))
            .bearer_auth(self.backend.owner.access_token().expose())
            .send()
            .await
            .unwrap();
        let mut page: serde_json::Value = answer.json().await.unwrap();
        serde_json::from_value(page["items"].take()).unwrap()
    }

    /// Waits for the end of every deployment. A failed one must give a reason.
    async fn has_ended_or_says_why(&self, what: &str) {
        until("the device to be back", || async {
            self.backend.owner.device(self.device.id).await.ok().filter(|device| device.online)
        })
        .await;
        for deployment in self.deployments().await {
            let ended = self.backend.ended(deployment.deployment_id).await;
            let reason = ended.reason.unwrap_or_default();
            let is_told = ended.state == DeploymentState::Completed || !reason.is_empty();
            assert!(is_told, "{what}: {:?} without a reason", ended.state);
        }
    }

    /// Checks that there is one model, one engine process and one file of each kind, and nothing else.
    async fn holds_everything_once(&self, what: &str) {
        self.device.serves().await;
        let models = self.backend.owner.models().await.unwrap();
        assert_eq!((models.len(), models[0].ready), (1, true), "{what}: {models:?}");
        let deployments = self.deployments().await;
        let completed =
            deployments.iter().filter(|deployment| deployment.state == DeploymentState::Completed);
        assert_eq!(completed.count(), 1, "{what}: {deployments:?}");
        let files = self.device.model_files();
        assert_eq!(files.len(), 1, "{what}: {files:?}");
        assert_eq!(std::fs::read(&files[0]).unwrap(), engines::model("tiny.gguf"), "{what}");
        let engines = names(&self.device.home().join("data/engines/llama-server"));
        let is_left = |name: &String| [".download", ".new"].contains(&name.as_str());
        assert!(!engines.iter().any(is_left), "{what}: {engines:?}");
        let kept = names(&self.backend.data().join("models"));
        assert_eq!(kept.len(), 1, "{what}: {kept:?}");
        let processes = engine_processes(&self.device.home());
        assert_eq!(processes.len(), 1, "{what}: {processes:?}");
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

/// The engine processes that run from a home.
fn engine_processes(home: &Path) -> Vec<PathBuf> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let programs = processes.filter_map(|entry| std::fs::read_link(entry.path().join("exe")).ok());
    programs.filter(|program| program.starts_with(home.join("data/engines"))).collect()
}
