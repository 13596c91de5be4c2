//! The context of a developer's command: this checkout, its build, its home, and the programs that
//! it runs.

#![expect(
    clippy::disallowed_methods,
    reason = "IO shell: starts the checkout's scripts and programs, and reads which home they use"
)]

use std::{
    env,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::Context as _;
use link_platform::paths::Roots;

use super::{BuildOption, HomeOption, home::Home, trouble::Trouble};

/// The folder of the checkout's home, in the target folder.
const HOME: &str = "link-home";
/// The packages to build: the backend, to try it out, and the programs of a device.
const PACKAGES: [&str; 4] = ["link-backend", "link-agent", "link-cli", "link-installer"];

/// The profile of the programs of a release.
const SHIPPED: &str = "dist";

/// A checkout of the sources.
#[derive(Debug)]
pub(crate) struct Checkout {
    root: PathBuf,
    /// The folder of the built programs, which also holds this program.
    programs: PathBuf,
    pub(super) home: Home,
}

impl Checkout {
    /// Returns the checkout at `root`, with the given home or its own.
    ///
    /// # Errors
    /// If the path of this program is unknown.
    pub(super) fn find(root: &Path, home: &HomeOption) -> anyhow::Result<Self> {
        let own = env::current_exe().context("cannot find the path of this program")?;
        let programs = own.parent().context("this program is in no folder")?.to_owned();
        let target = programs.parent().unwrap_or(&programs);
        let home = home.home.clone().unwrap_or_else(|| target.join(HOME));
        let home = Home::at(std::path::absolute(home).context("the home has no path")?);
        Ok(Self { root: root.to_owned(), programs, home })
    }

    /// Returns the checkout at `root`, for commands that do not use its home.
    ///
    /// # Errors
    /// If the path of this program is unknown.
    pub(crate) fn of_user(root: &Path) -> anyhow::Result<Self> {
        Self::find(root, &HomeOption { home: None })
    }

    /// The folder of the sources.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of the programs.
    pub(crate) fn programs(&self) -> &Path {
        &self.programs
    }

    /// Builds the programs, or checks that they exist.
    ///
    /// # Errors
    /// If the build fails or a program is missing.
    pub(super) fn build(&self, option: &BuildOption) -> anyhow::Result<()> {
        if option.no_build {
            return self.link().map(drop);
        }
        say("building the programs");
        let packages = PACKAGES.iter().flat_map(|package| ["-p", package]);
        done(
            self.cargo().arg("build").args(packages),
            "the programs do not build",
            "correct what Cargo says, and run it again",
        )
    }

    /// Builds packages as they are shipped, and returns the folder of their programs.
    ///
    /// # Errors
    /// If the build fails.
    pub(crate) fn build_shipped(&self, packages: &[&str]) -> anyhow::Result<PathBuf> {
        say("building the programs as they are shipped");
        let packages = packages.iter().flat_map(|package| ["-p", package]);
        done(
            self.cargo().args(["build", "--profile", SHIPPED]).args(packages),
            "the programs do not build",
            "correct what Cargo says, and run it again",
        )?;
        let target = self.programs.parent().context("this program is in no target folder")?;
        Ok(target.join(SHIPPED))
    }

    /// Returns a Cargo command.
    pub(super) fn cargo(&self) -> Command {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
        self.command(cargo)
    }

    /// Returns a command that runs in the checkout.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root);
        command
    }

    /// Returns a `link` command.
    ///
    /// # Errors
    /// If `link` is not built.
    pub(super) fn link(&self) -> anyhow::Result<Command> {
        self.program("link").map(|link| self.command(link))
    }

    /// Returns the path of a built program.
    ///
    /// # Errors
    /// If the program is not built.
    pub(crate) fn program(&self, name: &str) -> anyhow::Result<PathBuf> {
        let path = self.programs.join(format!("{name}{}", env::consts::EXE_SUFFIX));
        let missing = || format!("`{}` is not built", path.display());
        if !path.is_file() {
            return Err(Trouble::new(missing(), "build it with `cargo xtask setup`").into());
        }
        Ok(path)
    }

    /// Installs missing dependencies with `scripts/prepare` and returns the folder of the engines.
    ///
    /// # Errors
    /// If the script fails.
    pub(crate) fn prepare(&self, parts: &[&str]) -> anyhow::Result<PathBuf> {
        let mut prepare = self.command(self.root.join("scripts/prepare"));
        let ran = prepare.args(parts).stderr(Stdio::inherit()).output();
        let ran = ran.context("failed to start `scripts/prepare`")?;
        if !ran.status.success() {
            let what = format!("`scripts/prepare {}` failed", parts.join(" "));
            let next = "do what it says above, and run it again";
            return Err(Trouble::new(what, next).with_exit_of(ran.status.code()).into());
        }
        Ok(PathBuf::from(String::from_utf8_lossy(&ran.stdout).trim()))
    }
}

/// Returns the folders of this user's installation: below `LINK_HOME`, or the usual ones.
///
/// # Errors
/// If the user has no home.
pub(super) fn installation() -> anyhow::Result<Roots> {
    let home = env::var_os("LINK_HOME").filter(|home| !home.is_empty());
    let home = home.map(std::path::absolute).transpose().context("LINK_HOME is no path")?;
    Ok(Roots::find(home.as_deref())?)
}

/// Returns whether a variable has a value.
pub(super) fn is_set(name: &str) -> bool {
    env::var_os(name).is_some_and(|value| !value.is_empty())
}

/// Prints what the command does next.
pub(super) fn say(what: &str) {
    println!("==> {what}");
}

/// Runs a command until it ends.
///
/// # Errors
/// If the command fails. The error contains `what` and `next`.
pub(super) fn done(command: &mut Command, what: &str, next: &str) -> anyhow::Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("failed to start `{name}`"))?;
    if status.success() {
        return Ok(());
    }
    Err(Trouble::new(what, next).with_exit_of(status.code()).into())
}
