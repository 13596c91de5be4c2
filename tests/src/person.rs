//! A person with an empty home and the programs. Dropping the value ends the programs that `link up` has started.

use std::{
    net::{Ipv4Addr, TcpListener},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::atomic::{AtomicU32, Ordering},
};

use link_platform::paths::Roots;
use link_protocol::{backend_api::local_owner::OwnerFile, port::Port};

use crate::{engines, program, release::Releases};

/// A person with a home.
pub struct Person {
    home: tempfile::TempDir,
    /// The folder of everything that belongs to the person, below the temporary folder, so that it can be moved.
    place: PathBuf,
    /// The user id of the programs, if they run as another user.
    user: Option<u32>,
    ports: [u16; 3],
}

/// The number of people that this process has created.
static PEOPLE: AtomicU32 = AtomicU32::new(0);

/// The output and the exit code of a command.
#[derive(Debug)]
pub struct Said {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Person {
    /// Creates a person with a home that contains the engine.
    ///
    /// # Panics
    /// Panics if the home cannot be created.
    #[must_use]
    pub fn new() -> Self {
        Self::at(tempfile::tempdir().unwrap(), None)
    }

    /// Creates a person with another user id. Works only as root.
    ///
    /// # Panics
    /// Panics if the home cannot be created, or its owner cannot be changed.
    #[must_use]
    pub fn of_user(user: u32) -> Self {
        let home = tempfile::tempdir().unwrap();
        std::fs::set_permissions(home.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        Self::at(home, Some(user))
    }

    fn at(home: tempfile::TempDir, user: Option<u32>) -> Self {
        link_client::install_crypto();
        let place = home.path().join("home");
        std::fs::create_dir(&place).unwrap();
        engines::install(&place);
        if let Some(user) = user {
            // Copy the programs, because other users may not be able to read the build folder.
            std::fs::create_dir(place.join("programs")).unwrap();
            for name in ["link", "link-agent", "link-guard", "link-backend"] {
                std::fs::copy(program::path(name), place.join("programs").join(name)).unwrap();
            }
            let owner = format!("{user}:{user}");
            let given = Command::new("chown").args(["-R", &owner]).arg(&place).status();
            assert!(given.unwrap().success());
        }
        Self { home, place, user, ports: ports() }
    }

    /// Returns the folder of everything that belongs to the person.
    #[must_use]
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Returns the folders of the agent.
    #[must_use]
    pub fn roots(&self) -> Roots {
        Roots::below(&self.place)
    }

    /// Moves the home.
    ///
    /// # Panics
    /// Panics if the home cannot be moved.
    pub fn move_home(&mut self) {
        let other = self.home.path().join("moved");
        std::fs::rename(&self.place, &other).unwrap();
        self.place = other;
    }

    /// Returns a command of this person's `link`, with only this person's environment.
    #[must_use]
    pub fn link(&self, words: &[&str]) -> Command {
        let own = self.place.join("programs/link");
        let program = if self.user.is_some() { own } else { program::path("link") };
        self.command(&program, words)
    }

    /// Returns a command that this person runs.
    #[must_use]
    pub fn command(&self, program: &Path, words: &[&str]) -> Command {
        let mut command = match self.user {
            None => Command::new(program),
            Some(user) => {
                let mut command = Command::new("setpriv");
                command
                    .args([format!("--reuid={user}"), format!("--regid={user}")])
                    .args(["--clear-groups", "--"])
                    .arg(program);
                command
            }
        };
        command
            .args(words)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &self.place)
            .env("LINK_HOME", &self.place)
            .env("LINK_LOCAL_PORT", self.local_port().to_string())
            .env("LINK_ENGINE_THREADS", "1")
            .env("LINK_ENGINE_CONTEXT", "1024")
            .current_dir("/")
            .stdin(std::process::Stdio::null());
        command
    }

    /// Runs `install.sh`, to install Link as a device that is not registered.
    ///
    /// # Panics
    /// Panics if Link cannot be installed.
    pub fn installs(&self, releases: &Releases) {
        self.installs_with(releases, &[]);
    }

    /// Runs `install.sh` with `flags`, to install Link.
    ///
    /// # Panics
    /// Panics if Link cannot be installed.
    pub fn installs_with(&self, releases: &Releases, flags: &[&str]) {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/install.sh");
        let mut install = self.command("sh".as_ref(), &[script]);
        install.args(flags);
        let ran = install
            .env("LINK_INSTALL_URL", releases.url())
            .env("LINK_DEV_RELEASE_KEYS", &releases.trusted)
            .output()
            .unwrap();
        assert!(ran.status.success(), "{ran:?}");
    }

    /// Runs the installed `link`, and waits for its end.
    ///
    /// # Panics
    /// Panics if `link` cannot be run.
    #[must_use]
    pub fn installed(&self, releases: &Releases, words: &[&str]) -> Said {
        let mut command = self.command(&self.place.join("bin/link"), words);
        Said::from(command.env("LINK_DEV_RELEASE_KEYS", &releases.trusted).output().unwrap())
    }

    /// Runs `link`, and waits for its end.
    ///
    /// # Panics
    /// Panics if `link` cannot be run.
    #[must_use]
    pub fn runs(&self, words: &[&str]) -> Said {
        Said::from(self.link(words).output().unwrap())
    }

    /// Runs `link`, which must succeed, and waits for its end.
    ///
    /// # Panics
    /// Panics if `link` fails.
    pub fn does(&self, words: &[&str]) -> Said {
        let said = self.runs(words);
        assert!(said.code == 0, "link {words:?}: {said:?}");
        said
    }

    /// Returns the file that the running backend has written for its owner.
    ///
    /// # Panics
    /// Panics if there is no such file.
    #[must_use]
    pub fn owner(&self) -> OwnerFile {
        let text = std::fs::read_to_string(self.owner_file()).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    /// Returns the path of the file with the owner's proof.
    #[must_use]
    pub fn owner_file(&self) -> PathBuf {
        self.place.join("backend-data/run/owner.json")
    }

    /// Returns the port of the local API.
    #[must_use]
    pub const fn local_port(&self) -> u16 {
        self.ports[0]
    }

    /// Returns a port for the backend.
    #[must_use]
    pub const fn backend_port(&self) -> u16 {
        self.ports[1]
    }

    /// Returns a port for a model.
    ///
    /// # Panics
    /// Never: the port is above 1023.
    #[must_use]
    pub fn model_port(&self) -> Port {
        Port::try_from(self.ports[2]).unwrap()
    }
}

/// Returns free ports outside of the range for outgoing connections, so that no connection takes a port before its use.
///
/// # Panics
/// Panics if the machine has no free ports.
#[must_use]
pub fn ports() -> [u16; 3] {
    let number = PEOPLE.fetch_add(1, Ordering::Relaxed);
    let first = std::process::id().wrapping_mul(16).wrapping_add(number.wrapping_mul(5_000));
    let mut free = (0..20_000_u32)
        .filter_map(|step| u16::try_from(10_000 + first.wrapping_add(step) % 20_000).ok())
        .filter(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok());
    std::array::from_fn(|_| free.next().unwrap())
}

impl Default for Person {
    fn default() -> Self {
        Self::new()
    }
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Drop for Person {
    fn drop(&mut self) {
        let ended = self.runs(&["down"]);
        if ended.code != 0 || std::thread::panicking() {
            let log = |path: PathBuf| std::fs::read_to_string(path).unwrap_or_default();
            eprintln!("--- link down: {ended:?}");
            eprintln!("--- backend\n{}", log(self.place.join("backend-data/backend.log")));
            eprintln!("--- agent\n{}", log(self.place.join("state/logs/agent.log")));
        }
    }
}
