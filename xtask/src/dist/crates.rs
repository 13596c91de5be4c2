//! The crates of a build, as `cargo metadata` lists them for a target.

#![expect(
    clippy::disallowed_methods,
    reason = "IO shell: runs Cargo, which `cargo xtask` names in the environment"
)]

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::Context as _;
use serde::Deserialize;

use crate::dist::target::Target;

/// The packages of the workspace and their dependencies.
#[derive(Deserialize)]
pub(super) struct Metadata {
    pub(super) packages: Vec<Package>,
    pub(super) workspace_members: Vec<String>,
    pub(super) resolve: Resolve,
}

#[derive(Deserialize, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Package {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) version: String,
    pub(super) license: Option<String>,
    pub(super) manifest_path: PathBuf,
}

#[derive(Deserialize)]
pub(super) struct Resolve {
    pub(super) nodes: Vec<Node>,
}

/// A package with the packages that it uses.
#[derive(Deserialize)]
pub(super) struct Node {
    pub(super) id: String,
    pub(super) deps: Vec<Dependency>,
}

#[derive(Deserialize)]
pub(super) struct Dependency {
    pub(super) pkg: String,
    dep_kinds: Vec<Kind>,
}

/// The kind of a dependency: `build`, `dev`, or none for what a program contains.
#[derive(Deserialize)]
struct Kind {
    kind: Option<String>,
}

impl Metadata {
    /// Asks Cargo for the packages of the workspace at `root`, as `target` needs them.
    pub(super) fn of(root: &Path, target: Target) -> anyhow::Result<Self> {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
        let answer = Command::new(cargo)
            .current_dir(root)
            .args(["metadata", "--format-version", "1", "--locked", "--filter-platform"])
            .arg(target.triple())
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()
            .context("failed to start Cargo")?;
        anyhow::ensure!(
            answer.status.success(),
            "failed to read the dependencies of the workspace"
        );
        serde_json::from_slice(&answer.stdout).context("Cargo's list of dependencies is malformed")
    }
}

impl Package {
    /// The package URL, which identifies a crate everywhere.
    pub(super) fn url(&self) -> String {
        // A version may contain a `+`, which has another meaning in a URL.
        format!("pkg:cargo/{}@{}", self.name, self.version.replace('+', "%2B"))
    }
}

impl Dependency {
    /// Returns whether a program contains the dependency, and does not only need it to be built or tested.
    pub(super) fn is_compiled_in(&self) -> bool {
        self.dep_kinds.iter().any(|kind| kind.kind.is_none())
    }
}
