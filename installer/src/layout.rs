//! The paths of an installation. Pure: no file is read.

use std::path::{Path, PathBuf};

use link_platform::paths::Roots;
use link_protocol::release::Package;

/// The programs of a release that a device needs.
pub const PROGRAMS: [&str; 3] = ["link", "link-agent", "link-guard"];
/// The programs of a release that a backend needs. `link` installs and uninstalls it.
pub const BACKEND_PROGRAMS: [&str; 2] = ["link", "link-backend"];

/// What an installation consists of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Product {
    /// The agent of a device with its guard, and the command.
    Agent,
    /// The backend, which a service manager starts.
    Backend,
}

impl Product {
    /// Returns the package of a release that installs it.
    #[must_use]
    pub const fn package(self) -> Package {
        match self {
            Self::Agent => Package::Device,
            Self::Backend => Package::Backend,
        }
    }

    /// Returns the programs of a release that it needs.
    #[must_use]
    pub const fn programs(self) -> &'static [&'static str] {
        match self {
            Self::Agent => &PROGRAMS,
            Self::Backend => &BACKEND_PROGRAMS,
        }
    }
}

/// The places of one installation.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Layout {
    roots: Roots,
    product: Product,
}

impl Layout {
    /// Returns the places of an agent below `roots`.
    #[must_use]
    pub const fn new(roots: Roots) -> Self {
        Self { roots, product: Product::Agent }
    }

    /// Returns the places of a backend below `roots`.
    #[must_use]
    pub const fn backend(roots: Roots) -> Self {
        Self { roots, product: Product::Backend }
    }

    /// The installed product.
    #[must_use]
    pub const fn product(&self) -> Product {
        self.product
    }

    /// The folders of the installation.
    #[must_use]
    pub const fn roots(&self) -> &Roots {
        &self.roots
    }

    /// One folder for each version.
    #[must_use]
    pub fn versions(&self) -> PathBuf {
        self.roots.data.join("versions")
    }

    /// The folder of `version`.
    #[must_use]
    pub fn version(&self, version: &str) -> PathBuf {
        self.versions().join(version)
    }

    /// The pointer to the current version.
    #[must_use]
    pub fn current(&self) -> PathBuf {
        self.roots.data.join("current")
    }

    /// The path of the `link` command.
    #[must_use]
    pub fn command(&self) -> PathBuf {
        self.roots.bin.join("link")
    }

    /// All names of the command. `linkctl` is one that no other system program has.
    #[must_use]
    pub fn commands(&self) -> Vec<PathBuf> {
        match self.product {
            Product::Agent => vec![self.command(), self.roots.bin.join("linkctl")],
            Product::Backend => vec![self.roots.bin.join("link-backend")],
        }
    }

    /// The target of the command's pointer.
    #[must_use]
    pub fn command_target(&self) -> PathBuf {
        self.current().join(match self.product {
            Product::Agent => "link",
            Product::Backend => "link-backend",
        })
    }

    /// The guard, outside of the versions because it keeps running while they change.
    #[must_use]
    pub fn guard(&self) -> PathBuf {
        self.roots.data.join("guard").join(format!("link-guard{}", std::env::consts::EXE_SUFFIX))
    }

    /// The lock that a running guard holds.
    #[must_use]
    pub fn guard_lock(&self) -> PathBuf {
        self.roots.state.join("guard.lock")
    }

    /// The process id of the running guard, as text.
    #[must_use]
    pub fn guard_pid(&self) -> PathBuf {
        self.roots.state.join("guard.pid")
    }

    /// The log of the guard and the agent.
    #[must_use]
    pub fn agent_log(&self) -> PathBuf {
        self.roots.logs().join("agent.log")
    }

    /// The receipt of the installation.
    #[must_use]
    pub fn receipt(&self) -> PathBuf {
        self.roots.data.join("receipt.json")
    }

    /// The state of updates.
    #[must_use]
    pub fn update_state(&self) -> PathBuf {
        self.roots.data.join("update.json")
    }

    /// The folder for the download of the next version.
    #[must_use]
    pub fn staging(&self) -> PathBuf {
        self.roots.data.join("staging")
    }

    /// The lock that an update holds from its download to its end.
    #[must_use]
    pub fn staging_lock(&self) -> PathBuf {
        self.roots.data.join("staging.lock")
    }

    /// The lock that one installer holds.
    #[must_use]
    pub fn lock(&self) -> PathBuf {
        self.roots.data.join("install.lock")
    }
}

/// The file that makes a version complete.
#[must_use]
pub fn complete_mark(version: &Path) -> PathBuf {
    version.join("ok")
}
