//! The executables under test, built beside the test binary.

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

/// Returns the path of an executable of this workspace.
///
/// # Panics
/// When it was not built.
#[must_use]
pub fn path(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.ancestors().nth(2).unwrap();
    let path = folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    assert!(path.is_file(), "{} is not built: run `cargo build --workspace`", path.display());
    path
}

/// A program that runs; killed with SIGKILL when dropped.
#[derive(Debug)]
pub struct Running {
    child: Child,
    log: PathBuf,
}

impl Running {
    /// Starts `command` with its output in `log`.
    ///
    /// # Panics
    /// When it cannot be started.
    #[must_use]
    pub fn start(mut command: Command, log: &Path) -> Self {
        let file = std::fs::File::options().create(true).append(true).open(log).unwrap();
        let child = command
            // It is for the tests' own sessions; a program sees to its own.
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

    /// Reaps the program when it has ended; returns whether it has.
    pub fn reap(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(Some(_)) | Err(_))
    }

    /// Kills it with SIGKILL and waits until it is gone.
    pub fn kill(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }

    /// Returns what it has printed.
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
