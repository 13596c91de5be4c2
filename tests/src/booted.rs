//! A machine that boots, made by the scripts in `tests/machine`. It has its own init system, processes, files and
//! network, and reaches servers outside over https.
//!
//! Dropping a machine switches it off and deletes it, whatever the outcome of the test.

use std::{
    net::SocketAddr,
    path::PathBuf,
    process::Command,
    sync::atomic::{AtomicU32, Ordering},
};

use crate::{
    booted::outside::Outside,
    machine::{Ran, pack_release},
    program::Running,
    wait::until,
};

mod outside;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/machine/booted");
/// The number of machines that this process has created.
static MADE: AtomicU32 = AtomicU32::new(0);

/// The address of releases, as the machine sees it.
pub const RELEASES: &str = "https://get.example.test";
/// The address of the backend, as the machine sees it.
pub const BACKEND: &str = "https://backend.example.test";

/// The init system of a machine.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Flavour {
    /// systemd with logind and polkit.
    Systemd,
    /// systemd with logind, without polkit.
    NoPolkit,
    /// sysvinit and `OpenRC`.
    OpenRc,
    /// No init system.
    Bare,
}

impl Flavour {
    const fn name(self) -> &'static str {
        match self {
            Self::Systemd => "systemd",
            Self::NoPolkit => "nopolkit",
            Self::OpenRc => "openrc",
            Self::Bare => "bare",
        }
    }
}

/// A machine with the users `alice` and `bob`, neither of whom may be root.
#[derive(Debug)]
pub struct Booted {
    flavour: Flavour,
    folder: tempfile::TempDir,
    running: Option<Running>,
    _outside: Outside,
}

impl Booted {
    /// Creates and boots a new machine, or returns why this host cannot run one. `backend` serves the requests for
    /// [`BACKEND`].
    ///
    /// # Panics
    /// Panics if `LINK_TEST_MACHINES=1` requires a machine and it does not boot.
    pub async fn boot(flavour: Flavour, backend: SocketAddr) -> Result<Self, &'static str> {
        if std::env::var_os("LINK_TEST_MACHINES").is_none_or(|value| value != "1") {
            return Err("machines boot with LINK_TEST_MACHINES=1 only");
        }
        let unshare =
            Command::new("unshare").args(["--mount", "--propagation", "private", "true"]).output();
        assert!(
            unshare.is_ok_and(|ran| ran.status.success()),
            "LINK_TEST_MACHINES=1 is set: only root can boot a machine, and not in a chroot"
        );
        let folder = tempfile::tempdir().unwrap();
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("link-test-{}-{number}", std::process::id());
        let release = folder.path().join("release");
        pack_release(&release);
        let made = Command::new(SCRIPT)
            .arg("create")
            .arg(folder.path())
            .args([&name, flavour.name()])
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let outside = Outside::open(&name, folder.path(), &release, backend).await;
        let mut machine = Self { flavour, folder, running: None, _outside: outside };
        machine.switch_on().await;
        Ok(machine)
    }

    /// Returns the folder whose files are served at [`RELEASES`].
    #[must_use]
    pub fn releases(&self) -> PathBuf {
        self.folder.path().join("release")
    }

    /// Runs a shell line in a new login session, which ends after the line.
    pub async fn login(&self, user: &str, line: &str) -> Ran {
        self.run("login", &[user, line]).await
    }

    /// Runs a shell line as a user who is not logged in.
    pub async fn user(&self, user: &str, line: &str) -> Ran {
        self.run("user", &[user, line]).await
    }

    /// Runs a shell line as root.
    pub async fn root(&self, line: &str) -> Ran {
        self.run("root", &["sh", "-c", line]).await
    }

    /// Shuts the machine down properly, and boots it again.
    pub async fn reboot(&mut self) {
        if self.flavour == Flavour::Bare {
            // Without an init system, nothing can shut the machine down.
            self.power_cut().await;
            self.switch_on().await;
            return;
        }
        let boots = self.boots();
        let _cut_off_by_the_end = self.root("reboot").await;
        self.has_booted(boots).await;
    }

    /// Kills every process of the machine. The machine stays off.
    ///
    /// # Panics
    /// Panics if the machine is off.
    pub async fn power_cut(&mut self) {
        let _says_nothing = self.run("power-cut", &[]).await;
        let mut running = self.running.take().expect("a machine that is on");
        let mut ended = || running.reap();
        until("the end of the machine", || std::future::ready(ended().then_some(()))).await;
    }

    /// Boots a machine that is off.
    pub async fn switch_on(&mut self) {
        let boots = self.boots();
        let mut command = Command::new(SCRIPT);
        command.arg("on").arg(self.folder.path());
        self.running = Some(Running::start(command, &self.folder.path().join("log")));
        self.has_booted(boots).await;
    }

    async fn has_booted(&self, before: u32) {
        until("the machine to boot", || std::future::ready((self.boots() > before).then_some(())))
            .await;
    }

    /// Returns the number of boots.
    fn boots(&self) -> u32 {
        let text = std::fs::read_to_string(self.folder.path().join("boots")).unwrap();
        text.trim().parse().unwrap()
    }

    async fn run(&self, action: &str, words: &[&str]) -> Ran {
        let mut command = tokio::process::Command::new(SCRIPT);
        command.arg(action).arg(self.folder.path()).args(words);
        command.stdin(std::process::Stdio::null()).output().await.unwrap().into()
    }
}

impl Drop for Booted {
    fn drop(&mut self) {
        drop(Command::new(SCRIPT).arg("destroy").arg(self.folder.path()).status());
    }
}
