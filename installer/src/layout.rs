//! The paths of an installation. Pure: no file is read.

use std::path::{Path, PathBuf};

use link_platform::{paths::Roots, program};
use link_protocol::release::Package;

/// The programs of a release that a device needs.
pub const PROGRAMS: [&str; 3] = [program::LINK, program::AGENT, program::GUARD];
/// The programs of a release that a backend needs. `link` installs and uninstalls the backend.
pub const BACKEND_PROGRAMS: [&str; 2] = [program::LINK, program::BACKEND];
/// The file of a release that holds the folders of its plugins.
pub const PLUGINS: &str = "plugins.tar";
/// The folder of the completions that no shell looks for by itself, in the folder of data.
pub const COMPLETIONS: &str = "completions";
/// The file with the receipt of an installation, in its folder of data.
pub const RECEIPT: &str = "receipt.json";

/// The product that is installed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Product {
    /// The agent of a device with its guard, and the `link` command.
    Agent,
    /// The backend, which a service manager or a person starts.
    Backend,
}

impl Product {
    /// Returns the package of a release that contains this product.
    #[must_use]
    pub const fn package(self) -> Package {
        match self {
            Self::Agent => Package::Device,
            Self::Backend => Package::Backend,
        }
    }

    /// Returns the programs of a release that this product needs.
    #[must_use]
    pub const fn programs(self) -> &'static [&'static str] {
        match self {
            Self::Agent => &PROGRAMS,
            Self::Backend => &BACKEND_PROGRAMS,
        }
    }
}

/// The paths of one installation.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Layout {
    roots: Roots,
    product: Product,
}

impl Layout {
    /// Returns the paths of a device's installation below `roots`.
    #[must_use]
    pub const fn new(roots: Roots) -> Self {
        Self { roots, product: Product::Agent }
    }

    /// Returns the paths of a backend's installation below `roots`.
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

    /// The folder that contains one folder for each version.
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
        self.roots.bin.join(program::LINK)
    }

    /// All names of the command. No other program is expected to be called `linkctl`.
    #[must_use]
    pub fn commands(&self) -> Vec<PathBuf> {
        match self.product {
            Product::Agent => vec![self.command(), self.roots.bin.join(program::LINKCTL)],
            Product::Backend => vec![self.roots.bin.join(program::BACKEND)],
        }
    }

    /// The program that the names of the command lead to. [`crate::versions::program`] is the path to run it.
    #[must_use]
    pub fn command_target(&self) -> PathBuf {
        self.current().join(match self.product {
            Product::Agent => program::LINK,
            Product::Backend => program::BACKEND,
        })
    }

    /// The guard. It is outside the versions' folders, because it keeps running during an update.
    #[must_use]
    pub fn guard(&self) -> PathBuf {
        self.roots.data.join("guard").join(program::GUARD)
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
        self.roots.data.join(RECEIPT)
    }

    /// The folder of the completions that no shell looks for by itself.
    #[must_use]
    pub fn completions(&self) -> PathBuf {
        self.roots.data.join(COMPLETIONS)
    }

    /// The state of updates.
    #[must_use]
    pub fn update_state(&self) -> PathBuf {
        self.roots.data.join("update.json")
    }

    /// The folder into which the next version is downloaded.
    #[must_use]
    pub fn staging(&self) -> PathBuf {
        self.roots.data.join("staging")
    }

    /// The lock that an update holds from the start of its download to its end.
    #[must_use]
    pub fn staging_lock(&self) -> PathBuf {
        self.roots.data.join("staging.lock")
    }

    /// The installer's lock: one installer at a time holds it.
    #[must_use]
    pub fn lock(&self) -> PathBuf {
        self.roots.data.join("install.lock")
    }
}

/// The file whose existence marks a version as complete.
#[must_use]
pub fn complete_mark(version: &Path) -> PathBuf {
    version.join("ok")
}
