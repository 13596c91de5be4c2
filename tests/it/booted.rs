//! Link on machines that boot: installed over https by a user who may not be root, through logouts,
//! reboots and power cuts, until it is uninstalled without a trace.
//!
//! A story about another part of Link, such as updates, is in its own file beside these. It begins
//! with [`Device::installed`] and ends with [`Device::uninstalls`]. The device finds the contents
//! of the folder `machine.releases()` at [`RELEASES`].

use std::{collections::BTreeSet, net::SocketAddr};

use jiff::Timestamp;
use link_protocol::{id::DeviceId, key::KeyKind};
use link_tests::{
    backend::TestBackend,
    booted::{BACKEND, Booted, Flavour, RELEASES},
    engines,
    machine::Ran,
    release::{Agent, Releases},
    wait::until,
};
use serde_json::Value;

mod backend;
mod doctor;
mod permanence;
mod readme;
mod repair;
mod two_users;
mod up;
mod update;
mod without_systemd;

const ALICE: &str = "alice";
/// The file that keeps the services of `alice` running without a login.
const LINGER: &str = "/var/lib/systemd/linger/alice";

/// A machine, and the backend with which it may register as a device.
struct Device {
    machine: Booted,
    backend: TestBackend,
    /// The traces on the machine before the installation.
    before: BTreeSet<String>,
}

impl Device {
    /// Starts a fresh machine. Prints the reason and returns none if this is not possible here.
    #[expect(clippy::print_stderr, reason = "says why a test has not run")]
    async fn fresh(flavour: Flavour) -> Option<Self> {
        let backend = TestBackend::start().await;
        let address: SocketAddr = backend.url.trim_start_matches("http://").parse().unwrap();
        let machine = match Booted::boot(flavour, address).await {
            Ok(machine) => machine,
            Err(why) => {
                eprintln!("skipped: {why}");
                return None;
            }
        };
        let before = traces(&machine).await;
        Some(Self { machine, backend, before })
    }

    /// Starts a machine with Link installed, registered and healthy.
    async fn installed(flavour: Flavour) -> Option<Self> {
        let device = Self::fresh(flavour).await?;
        let ran = device.install().await;
        assert_eq!(ran.code, Some(0), "{ran:?}");
        device.is_healthy().await;
        Some(device)
    }

    /// Installs Link as the documentation says, with a registration key in the environment.
    async fn install(&self) -> Ran {
        let key = self.backend.key(KeyKind::Registration).await;
        let put = format!("echo {} > /tmp/key && chown alice /tmp/key", key.expose());
        assert_eq!(self.machine.root(&put).await.code, Some(0));
        self.install_with(
            "LINK_REGISTRATION_KEY=$(cat /tmp/key); rm /tmp/key; export LINK_REGISTRATION_KEY",
        )
        .await
    }

    /// Runs the same line again, without a key.
    async fn install_again(&self) -> Ran {
        self.install_with("true").await
    }

    async fn install_with(&self, before: &str) -> Ran {
        let line = format!(
            "set -o pipefail; {before}; curl -fsSL {RELEASES}/install.sh \
             | LINK_INSTALL_URL={RELEASES} LINK_BACKEND_URL={BACKEND} sh"
        );
        self.machine.login(ALICE, &line).await
    }

    /// Installs a release that has a backend for `link up`, the engine and the file `tiny.gguf` beside it. Returns the shell
    /// line that makes a development build trust the release.
    async fn install_with_backend(&self) -> String {
        let (releases, stable) = (Releases::new(), self.machine.releases());
        let version = env!("CARGO_PKG_VERSION");
        releases.publish(version, Agent::Good);
        for entry in std::fs::read_dir(releases.folder()).unwrap() {
            let path = entry.unwrap().path();
            std::fs::copy(&path, stable.join(path.file_name().unwrap())).unwrap();
        }
        std::fs::write(stable.join("tiny.gguf"), engines::model("tiny.gguf")).unwrap();
        let keys = format!("export LINK_DEV_RELEASE_KEYS={}", releases.trusted);
        let ran = self.install_with(&format!("{keys} LINK_VERSION={version}")).await;
        assert_eq!(ran.code, Some(0), "{ran:?}");
        self.brings_the_engine().await;
        keys
    }

    /// Runs the `link` that PATH finds, without a login session.
    async fn link(&self, words: &str) -> Ran {
        self.machine.user(ALICE, &format!("link {words}")).await
    }

    async fn status(&self) -> Value {
        let ran = self.link("status --json").await;
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
    }

    async fn id(&self) -> DeviceId {
        self.status().await["device_id"].as_str().unwrap().parse().unwrap()
    }

    async fn is_healthy(&self) {
        until("a healthy status", || async {
            (self.link("status").await.code == Some(0)).then_some(())
        })
        .await;
    }

    /// Waits until the backend has heard from the device after `since`, and shows it as online.
    async fn is_heard_of(&self, id: DeviceId, since: Timestamp) {
        until("the backend to hear of the device", || async {
            let device = self.backend.owner.device(id).await.ok()?;
            (device.online && device.last_seen_at.is_some_and(|seen| seen > since)).then_some(())
        })
        .await;
    }

    /// The process id of alice's program. None if it does not run.
    async fn pid(&self, program: &str) -> Option<u32> {
        self.machine.root(&format!("pgrep -u alice -x {program}")).await.stdout.parse().ok()
    }

    /// Kills a program and waits until it runs again.
    async fn comes_back_when_killed(&self, program: &str) {
        let killed = self.pid(program).await.unwrap();
        assert_eq!(self.machine.root(&format!("kill -9 {killed}")).await.code, Some(0));
        until("another process", || async { self.pid(program).await.filter(|&pid| pid != killed) })
            .await;
        self.is_healthy().await;
    }

    /// The logins that logind knows.
    async fn sessions(&self) -> String {
        self.machine.root("loginctl --no-legend list-sessions").await.stdout
    }

    /// Waits until logind has ended the processes that may not run without a login.
    async fn is_logged_out(&self) {
        until("the end of all sessions", || async {
            self.sessions().await.is_empty().then_some(())
        })
        .await;
        // logind waits for a while after a logout, equally long for every user. So when bob's later
        // logout is complete, alice's is too.
        let ran = self.machine.login("bob", "systemctl --user is-system-running").await;
        assert_eq!(ran.stdout, "running", "{ran:?}");
        until("the end of what bob ran", || async {
            let ran = self.machine.root("systemctl is-active user@1001.service").await;
            (ran.stdout == "inactive").then_some(())
        })
        .await;
        assert_eq!(self.sessions().await, "");
    }

    /// Uninstalls Link twice, and checks that nothing is left.
    async fn uninstalls(&self) {
        let ran = self.machine.login(ALICE, "link uninstall --yes").await;
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(self.backend.owner.devices().await.unwrap().is_empty());
        self.has_no_traces().await;
        let again =
            format!("set -o pipefail; curl -fsSL {RELEASES}/install.sh | sh -s -- --uninstall");
        let ran = self.machine.login(ALICE, &again).await;
        assert_eq!(ran.code, Some(0), "{ran:?}");
        self.has_no_traces().await;
    }

    async fn has_no_traces(&self) {
        let after = traces(&self.machine).await;
        let new: Vec<_> = after.difference(&self.before).collect();
        let gone: Vec<_> = self.before.difference(&after).collect();
        assert!(new.is_empty() && gone.is_empty(), "new: {new:#?}\ngone: {gone:#?}");
    }
}

/// All possible traces of an installation, once no process of alice runs.
async fn traces(machine: &Booted) -> BTreeSet<String> {
    until("the end of all that alice runs", || async {
        machine.root("pgrep -u alice").await.stdout.is_empty().then_some(())
    })
    .await;
    let mut traces = BTreeSet::new();
    for look in [
        "find /home/alice /etc /var /tmp /opt /usr/local -user alice -printf '%M %p %l\\n'",
        "find /home/alice -type f -exec sha256sum {} +",
        "find /var/lib/systemd/linger -type f",
    ] {
        traces.extend(machine.root(look).await.stdout.lines().map(str::to_owned));
    }
    traces
}
