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
mod shared;

use shared::{PROGRAMS, Shared};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The agent of a release.
#[derive(Clone, Copy, Debug)]
pub enum Agent {
    /// The agent of this build.
    Good,
    /// A shell script that receives the arguments of the agent.
    Script(&'static str),
}

/// A folder of releases, which are signed with the key of all tests of this build.
#[derive(Debug)]
pub struct Releases {
    dir: tempfile::TempDir,
    shared: Shared,
    /// The public key.
    pub trusted: String,
}

impl Releases {
    /// Creates an empty folder.
    ///
    /// # Panics
    /// Panics if that fails.
    #[must_use]
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let shared = Shared::open();
        let trusted = shared.trusted();
        std::fs::create_dir(dir.path().join("releases")).unwrap();
        Self { dir, shared, trusted }
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
        let target = program::target();
        let archive = self.folder().join(format!("link-{version}-{target}{suffix}.tar.gz"));
        assert!(archive.is_file(), "{}", archive.display());
        archive
    }

    /// Replaces the archive of `version` whose name ends with `suffix` by `bytes`.
    ///
    /// # Panics
    /// Panics if the version was not published.
    pub fn replace_archive(&self, version: &str, suffix: &str, bytes: &[u8]) {
        let archive = self.archive(version, suffix);
        std::fs::remove_file(&archive).unwrap();
        std::fs::write(archive, bytes).unwrap();
    }

    /// Publishes `version` as the newest release.
    pub fn publish(&self, version: &str, agent: Agent) {
        let scripts = match agent {
            Agent::Good => vec![],
            Agent::Script(script) => vec![("link-agent", script)],
        };
        self.publish_with(version, &scripts, &self.shared.key(), &[]);
    }

    /// Publishes `version` on a channel.
    pub fn publish_on(&self, channel: &str, version: &str) {
        self.publish_with(version, &[], &self.shared.key(), &["--channel", channel]);
    }

    /// Publishes `version` for a host: the installers know the address below which it will stand.
    pub fn publish_for(&self, repo_url: &str, version: &str) {
        self.publish_with(version, &[], &self.shared.key(), &["--repo-url", repo_url]);
    }

    /// Publishes `version`, signed with an untrusted key.
    pub fn publish_forged(&self, version: &str) {
        self.publish_with(version, &[], &self.shared.foreign_key(), &[]);
    }

    /// Publishes `version` with a manifest that has been expired for years.
    pub fn publish_expired(&self, version: &str) {
        let options = ["--released-at", "1577836800"];
        self.publish_with(version, &[], &self.shared.key(), &options);
    }

    /// Publishes `version` with a backend that ends at once.
    pub fn publish_with_broken_backend(&self, version: &str) {
        self.publish_with(version, &[("link-backend", "exit 1")], &self.shared.key(), &[]);
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
            .arg(self.shared.key())
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
            .arg(self.shared.key())
            .arg("--build")
            .arg(format!("{build}={}", folder.display()))
            .stdout(Stdio::null())
            .status();
        assert!(published.unwrap().success());
    }

    /// Publishes `version`, with shell scripts in the place of some programs.
    fn publish_with(
        &self,
        version: &str,
        scripts: &[(&'static str, &str)],
        key: &Path,
        options: &[&str],
    ) {
        let description = format!("{version} {scripts:?} {} {options:?}", key.display());
        let release = self.shared.release(&description, |out| {
            let programs = programs(version, scripts);
            let version = ["--release-version", version];
            let options: Vec<_> = version.iter().chain(options).copied().collect();
            shared::pack(out, Some(programs.path()), key, &options);
        });
        shared::lay_out(&release, &self.folder());
    }
}

/// Returns the release with the programs as they were built, which is the same folder for all tests. A test that changes
/// a file changes a copy. The file `key.pub` beside the folder has the public key.
///
/// # Panics
/// Panics if it cannot be packed.
#[must_use]
pub fn as_built() -> PathBuf {
    let shared = Shared::open();
    shared.release("as built", |out| shared::pack(out, None, &shared.key(), &[]))
}

/// Packs the programs as they were built, signed with `key`.
///
/// # Panics
/// Panics if they cannot be packed.
pub fn pack(out: &Path, key: &Path) {
    shared::pack(out, None, key, &[]);
}

/// Returns a folder with the programs of a version.
fn programs(version: &str, scripts: &[(&'static str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in PROGRAMS {
        let file = folder.path().join(name);
        if let Some((_, script)) = scripts.iter().find(|(replaced, _)| *replaced == name) {
            std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        } else {
            program::copy_stripped(name, &file);
            renumber(&file, version);
        }
    }
    folder
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
