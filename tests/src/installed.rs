//! A registered device that `install.sh` has installed from a folder of releases, with the guard that keeps its agent
//! running.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

use link_platform::checkpoint::KILLED_ONCE;
use link_protocol::{key::KeyKind, update::UpdateEnd};

use crate::{
    backend::TestBackend,
    device::TestDevice,
    release::{Agent, Releases},
    wait::until,
};

/// The version of the build under test, which is installed first.
pub const OLD: &str = env!("CARGO_PKG_VERSION");

/// The exit code of an agent whose port is in use.
pub const PORT_TAKEN: i32 = 76;

/// The first line of the agent script of a bad version that passes its self-check.
pub const PASSES_ITS_CHECK: &str = "case $1 in --self-check) exit 0 ;; esac";

/// A registered device that `install.sh` has installed from a folder of releases.
pub struct Installed {
    pub backend: TestBackend,
    pub device: TestDevice,
    pub releases: Releases,
}

impl Installed {
    /// Installs the build under test. Only the guard and the agent get the variables in `environment`.
    ///
    /// # Panics
    /// Panics if the build cannot be installed.
    pub async fn new(environment: &[(&str, &str)]) -> Self {
        let releases = Releases::new();
        releases.publish(OLD, Agent::Good);
        let backend = TestBackend::start().await;
        let key = backend.key(KeyKind::Registration).await;
        let mut installed = Self { backend, device: TestDevice::unregistered(), releases };
        let mut script = installed.script();
        let ran = script.env("LINK_REGISTRATION_KEY", key.expose()).output().unwrap();
        assert!(ran.status.success(), "{ran:?}");
        installed.device.id = installed.device.identity().device_id;
        installed.backend.online(installed.device.id, true).await;
        if !environment.is_empty() {
            assert!(installed.link(&["stop"]).status.success());
            let started = installed
                .command(&["start"])
                .env(KILLED_ONCE, installed.mark())
                .envs(environment.iter().copied())
                .output();
            assert!(started.unwrap().status.success());
            installed.is_healthy().await;
        }
        installed
    }

    /// Runs `install.sh` again, to install the newest release.
    ///
    /// # Panics
    /// Panics if the program cannot be run.
    #[must_use]
    pub fn install(&self) -> Output {
        self.script().output().unwrap()
    }

    /// Runs `install.sh` again, to install the newest release at `url`.
    ///
    /// # Panics
    /// Panics if the program cannot be run.
    #[must_use]
    pub fn install_from(&self, url: &str) -> Output {
        self.script().env("LINK_INSTALL_URL", url).output().unwrap()
    }

    fn script(&self) -> Command {
        let mut script = Command::new("sh");
        script
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/install.sh"))
            .envs(self.environment())
            .env("LINK_INSTALL_URL", self.releases.url())
            .env("LINK_BACKEND_URL", &self.backend.url);
        script
    }

    /// Returns the environment variables of the installer, `link` and the agent of this device.
    #[must_use]
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        vec![
            ("LINK_HOME", self.device.home().display().to_string()),
            ("LINK_LOCAL_PORT", self.device.local_port.to_string()),
            ("LINK_ENGINE_THREADS", "1".to_owned()),
            ("LINK_SERVICE", "none".to_owned()),
            ("LINK_DEV_RELEASE_KEYS", self.releases.trusted.clone()),
            ("LINK_DEV_UPDATE_WINDOW", "4".to_owned()),
        ]
    }

    /// Returns a `link` command of the installation.
    #[must_use]
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.device.home().join("bin/link"));
        command.args(arguments).envs(self.environment());
        command
    }

    /// Runs `link` and waits for its end.
    ///
    /// # Panics
    /// Panics if the program cannot be run.
    #[must_use]
    pub fn link(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Returns the process id of the agent.
    ///
    /// # Panics
    /// Panics if no agent runs.
    #[must_use]
    pub fn agent_pid(&self) -> String {
        std::fs::read_to_string(self.device.home().join("state/agent.pid")).unwrap()
    }

    /// Returns the folder of the installation.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.device.home().join("data")
    }

    /// Returns the path of the file that exists once a checkpoint was reached.
    #[must_use]
    pub fn mark(&self) -> PathBuf {
        self.device.home().join("killed-once")
    }

    /// Returns the path of a release's archive for devices.
    ///
    /// # Panics
    /// Panics if the release was not published.
    #[must_use]
    pub fn archive(&self, version: &str) -> PathBuf {
        self.releases.archive(version, "")
    }

    /// Waits until the agent answers, and returns its version.
    pub async fn version(&self) -> String {
        self.device.healthz().await.agent_version.to_string()
    }

    /// Returns the installed versions.
    ///
    /// # Panics
    /// Panics if there is no installation.
    #[must_use]
    pub fn on_disk(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.data().join("versions")).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.filter(|name| !name.starts_with('.')).collect();
        names.sort();
        names
    }

    /// Waits until exactly these versions are installed.
    pub async fn keeps(&self, versions: &[&str]) {
        until("the other versions to be deleted", || async {
            (self.on_disk() == versions).then_some(())
        })
        .await;
    }

    /// Waits until `link status` reports no faults.
    pub async fn is_healthy(&self) {
        until("a healthy status", || async {
            self.link(&["status"]).status.success().then_some(())
        })
        .await;
    }

    /// Waits until a version has passed its trial.
    pub async fn is_committed(&self, version: &str) {
        until("the version to be kept", || async {
            let last = self.device.local.healthz().await.ok()?.last_update?;
            let kept = last.outcome == UpdateEnd::Committed && last.to.to_string() == version;
            kept.then_some(())
        })
        .await;
        self.is_healthy().await;
    }

    /// Waits until a process has ended at its checkpoint.
    pub async fn was_cut(&self) {
        until("the checkpoint", || async { self.mark().exists().then_some(()) }).await;
    }

    /// Waits until the guard has restarted the agent. If the guard itself has died, starts it like the next boot.
    pub async fn comes_back(&self) {
        until("the agent to come back", || async {
            let guard = std::fs::read_to_string(self.device.home().join("state/guard.pid"));
            let guarded = guard.is_ok_and(|pid| Path::new("/proc").join(pid.trim()).exists());
            if !guarded {
                let _tried_again = self.link(&["start"]);
            }
            self.link(&["status"]).status.success().then_some(())
        })
        .await;
    }

    /// Waits until no version is on trial.
    pub async fn settles(&self) {
        until("the trial to end", || async {
            let state = std::fs::read_to_string(self.data().join("update.json"));
            (!state.unwrap_or_default().contains("pending")).then_some(())
        })
        .await;
    }
}

impl Drop for Installed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = self.device.home().join("state/logs/agent.log");
            eprintln!("{}", std::fs::read_to_string(log).unwrap_or_default());
        }
        drop(self.command(&["stop"]).output());
    }
}

/// Parses the output of a command.
///
/// # Panics
/// Panics if the output is not JSON.
#[must_use]
pub fn json(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Returns the standard error of a command.
#[must_use]
pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
