//! The executables under test, built beside the test binary.

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

/// Programs for another system, which an emulator runs (`scripts/check-arm64`).
#[derive(Clone, Debug)]
pub struct Elsewhere {
    /// The folder with the programs.
    pub folder: PathBuf,
    /// The triple that they were built for.
    pub triple: String,
}

impl Elsewhere {
    /// Returns the programs of another system that the environment names: `LINK_TEST_PROGRAMS` and `LINK_TEST_TRIPLE`.
    ///
    /// # Panics
    /// Panics if only one variable is set or the folder has no `link`, because the tests would test something else.
    #[must_use]
    pub fn given() -> Option<Self> {
        let folder: PathBuf = std::env::var_os("LINK_TEST_PROGRAMS")?.into();
        let triple = std::env::var("LINK_TEST_TRIPLE").expect("LINK_TEST_PROGRAMS has a triple");
        assert!(folder.join("link").is_file(), "there is no {}/link", folder.display());
        Some(Self { folder, triple })
    }
}

/// Returns the name of the system of the tested programs in a release.
///
/// # Panics
/// Panics if releases have no archive for this machine.
#[must_use]
pub fn target() -> String {
    let own = || link_platform::facts::target().unwrap().to_owned();
    // Static programs run on every Linux, so the archive has the name of the usual one.
    Elsewhere::given().map_or_else(own, |other| other.triple.replace("-musl", "-gnu"))
}

/// Returns the path of the Node that `scripts/prepare web` installs.
///
/// # Panics
/// Panics if it was not installed.
#[must_use]
pub fn node() -> PathBuf {
    let variable =
        |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = variable("LINK_CACHE").unwrap_or_else(|| {
        let caches = variable("XDG_CACHE_HOME")
            .or_else(|| variable("HOME").map(|home| home.join(".cache")))
            .expect("`LINK_CACHE`, `XDG_CACHE_HOME` or `HOME` is set");
        caches.join("link-dev")
    });
    let entries = std::fs::read_dir(&cache).into_iter().flatten().flatten();
    let nodes = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("node-"));
    let newest =
        nodes.map(|entry| entry.path().join("bin/node")).filter(|node| node.is_file()).max();
    newest.unwrap_or_else(|| panic!("{} has no Node: run `scripts/prepare web`", cache.display()))
}

/// Returns the path of an executable of this workspace, or of the one that is tested in its place.
///
/// # Panics
/// Panics if the executable was not built.
#[must_use]
pub fn path(name: &str) -> PathBuf {
    let other = Elsewhere::given().map(|other| other.folder.join(name));
    if let Some(other) = other.filter(|other| other.is_file()) {
        return other;
    }
    let test = std::env::current_exe().unwrap();
    let folder = test.ancestors().nth(2).unwrap();
    let path = folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    assert!(path.is_file(), "{} is not built: run `cargo build --workspace`", path.display());
    path
}

/// Copies an executable of this workspace to `to`, without its symbols if this machine has `strip`: they are half of the
/// file.
///
/// # Panics
/// Panics if the copy cannot be written.
pub fn copy_stripped(name: &str, to: &Path) {
    let program = path(name);
    let strip =
        Command::new("strip").arg("-o").arg(to).arg(&program).stderr(Stdio::null()).status();
    if !strip.is_ok_and(|status| status.success()) {
        std::fs::copy(program, to).unwrap();
    }
}

/// A running program. Dropping the value kills the program with SIGKILL.
#[derive(Debug)]
pub struct Running {
    child: Child,
    log: PathBuf,
}

impl Running {
    /// Starts `command`, and writes its output to `log`.
    ///
    /// # Panics
    /// Panics if the program cannot be started.
    #[must_use]
    pub fn start(mut command: Command, log: &Path) -> Self {
        let file = std::fs::File::options().create(true).append(true).open(log).unwrap();
        let child = command
            // This variable configures zenoh sessions of the tests; programs configure their own.
            .env_remove("ZENOH_RUNTIME")
            .stdin(Stdio::null())
            .stdout(file.try_clone().unwrap())
            .stderr(file)
            .spawn()
            .unwrap();
        Self { child, log: log.to_owned() }
    }

    /// Returns the process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns whether the program has ended, and reaps it if so.
    pub fn reap(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(Some(_)) | Err(_))
    }

    /// Kills the program with SIGKILL and waits for its end.
    pub fn kill(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }

    /// Returns the output of the program so far.
    #[must_use]
    pub fn output(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
        if std::thread::panicking() {
            let output = self.output();
            let tail: Vec<_> = output.lines().rev().take(40).collect();
            let tail: Vec<_> = tail.into_iter().rev().collect();
            eprintln!("--- {}\n{}", self.log.display(), tail.join("\n"));
        }
    }
}
