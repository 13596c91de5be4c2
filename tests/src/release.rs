//! Signed releases of the programs under test, with any version number.
//!
//! A later version is the same build with another version number: each occurrence of the version's text is replaced by
//! a text of the same length. In a bad version, a script replaces the agent.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::program;

mod one_archive;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The agent of a release.
#[derive(Clone, Copy, Debug)]
pub enum Agent {
    /// The agent of this build.
    Good,
    /// A shell script that receives the arguments of the agent.
    Script(&'static str),
}

/// A folder of releases, and the key that signs them.
#[derive(Debug)]
pub struct Releases {
    dir: tempfile::TempDir,
    /// The public key.
    pub trusted: String,
}

impl Releases {
    /// Creates the folder and the key.
    ///
    /// # Panics
    /// Panics if that fails.
    #[must_use]
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let trusted = new_key(&dir.path().join("key"));
        std::fs::create_dir(dir.path().join("releases")).unwrap();
        Self { dir, trusted }
    }

    /// Returns the folder of the releases.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        self.dir.path().join("releases")
    }

    /// Writes the public key to a file, and returns the path.
    ///
    /// # Panics
    /// Panics if the file cannot be written.
    #[must_use]
    pub fn key_file(&self) -> PathBuf {
        let file = self.dir.path().join("key.pub");
        std::fs::write(&file, format!("{}\n", self.trusted)).unwrap();
        file
    }

    /// Returns the URL of the folder.
    #[must_use]
    pub fn url(&self) -> String {
        format!("file://{}", self.folder().display())
    }

    /// Returns the path of the archive of `version` whose name ends with `suffix`.
    ///
    /// # Panics
    /// Panics if the version was not published.
    #[must_use]
    pub fn archive(&self, version: &str, suffix: &str) -> PathBuf {
        let target = link_platform::facts::target().unwrap();
        let archive = self.folder().join(format!("link-{version}-{target}{suffix}.tar.gz"));
        assert!(archive.is_file(), "{}", archive.display());
        archive
    }

    /// Publishes `version` as the newest release.
    pub fn publish(&self, version: &str, agent: Agent) {
        self.publish_with(version, agent, &self.dir.path().join("key"), &[]);
    }

    /// Publishes `version` on a channel.
    pub fn publish_on(&self, channel: &str, version: &str) {
        let key = self.dir.path().join("key");
        self.publish_with(version, Agent::Good, &key, &["--channel", channel]);
    }

    /// Publishes `version` for a host: the installers know the address below which it will stand.
    pub fn publish_for(&self, repo_url: &str, version: &str) {
        let key = self.dir.path().join("key");
        self.publish_with(version, Agent::Good, &key, &["--repo-url", repo_url]);
    }

    /// Publishes `version`, signed with an untrusted key.
    pub fn publish_forged(&self, version: &str) {
        let key = self.dir.path().join(format!("foreign-{version}"));
        new_key(&key);
        self.publish_with(version, Agent::Good, &key, &[]);
    }

    /// Publishes `version` with a manifest that has been expired for years.
    pub fn publish_expired(&self, version: &str) {
        let key = self.dir.path().join("key");
        self.publish_with(version, Agent::Good, &key, &["--released-at", "1577836800"]);
    }

    /// Publishes `version` with a backend that ends at once.
    ///
    /// # Panics
    /// Panics if that fails.
    pub fn publish_with_broken_backend(&self, version: &str) {
        let backend = self.programs(version, Agent::Good).join("link-backend");
        std::fs::write(backend, "#!/bin/sh\nexit 1\n").unwrap();
        self.publish(version, Agent::Good);
    }

    /// Publishes `version` as an old release, with a single archive for device and backend.
    ///
    /// # Panics
    /// Panics if that fails.
    pub fn publish_as_one_archive(&self, version: &str) {
        one_archive::publish(self, version);
    }

    /// Publishes a catalogue of `models`, signed with the key of the releases.
    ///
    /// # Panics
    /// Panics if that fails.
    pub fn publish_catalogue(&self, models: &serde_json::Value) {
        let list = self.dir.path().join("models.json");
        std::fs::write(&list, models.to_string()).unwrap();
        let published = Command::new(program::path("xtask"))
            .arg("catalogue")
            .arg(&list)
            .arg("--sign-with")
            .arg(self.dir.path().join("key"))
            .arg("--out")
            .arg(self.folder())
            .stdout(Stdio::null())
            .status();
        assert!(published.unwrap().success());
    }

    /// Publishes an index with one build of the engine, from `folder`, signed with the key of the releases.
    ///
    /// # Panics
    /// Panics if that fails.
    pub fn publish_engine(&self, build: &str, folder: &Path) {
        let published = Command::new(program::path("xtask"))
            .args(["engines", "--unchecked"])
            .arg(self.folder())
            .arg("--sign-with")
            .arg(self.dir.path().join("key"))
            .arg("--build")
            .arg(format!("{build}={}", folder.display()))
            .stdout(Stdio::null())
            .status();
        assert!(published.unwrap().success());
    }

    fn publish_with(&self, version: &str, agent: Agent, key: &Path, options: &[&str]) {
        let programs = self.programs(version, agent);
        let published = Command::new(program::path("xtask"))
            .args(["dist", "--profile", "dev", "--release-version", version, "--executables"])
            .arg(&programs)
            .arg("--sign-with")
            .arg(key)
            .arg("--out")
            .arg(self.folder())
            .args(options)
            .stdout(Stdio::null())
            .status()
            .unwrap();
        assert!(published.success());
    }

    /// Returns the folder with the programs of a version, which is created once.
    fn programs(&self, version: &str, agent: Agent) -> PathBuf {
        let folder = self.dir.path().join(version);
        if folder.exists() {
            return folder;
        }
        std::fs::create_dir(&folder).unwrap();
        for name in ["link", "link-agent", "link-backend", "link-guard"] {
            program::copy_stripped(name, &folder.join(name));
            renumber(&folder.join(name), version);
        }
        if let Agent::Script(script) = agent {
            std::fs::write(folder.join("link-agent"), format!("#!/bin/sh\n{script}\n")).unwrap();
        }
        folder
    }
}

impl Default for Releases {
    fn default() -> Self {
        Self::new()
    }
}

/// Creates a key and returns the public key.
fn new_key(path: &Path) -> String {
    let made = Command::new(program::path("xtask")).arg("release-key").arg(path).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let said = String::from_utf8(made.stdout).unwrap();
    said.split_whitespace().last().unwrap().to_owned()
}

/// Replaces every occurrence of this build's version in a program.
fn renumber(path: &Path, version: &str) {
    assert_eq!(version.len(), VERSION.len(), "the text of the version keeps its length");
    let pattern = format!("s/{}/{version}/g", VERSION.replace('.', "\\."));
    let edited = Command::new("sed").env("LC_ALL", "C").arg("-i").arg(pattern).arg(path).status();
    assert!(edited.unwrap().success());
}
