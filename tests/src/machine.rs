//! A user with a real `systemd --user`, which the script `tests/machine/user-systemd` starts.

use std::{
    os::unix::fs::{PermissionsExt as _, chown},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use crate::{
    program::{self, Running},
    wait::until,
};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/machine/user-systemd");
/// The user's id, which is also in the script.
const USER: u32 = 54321;

/// A logged-in user.
#[derive(Debug)]
pub struct Machine {
    folder: tempfile::TempDir,
    _running: Running,
}

/// The output and the exit code of a shell line.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Machine {
    /// Starts the user's systemd, or returns why this machine cannot run it.
    ///
    /// # Panics
    /// Panics if this machine can run it and it does not start.
    pub async fn boot() -> Result<Self, &'static str> {
        if !Path::new("/lib/systemd/systemd").is_file() {
            return Err("systemd is not installed");
        }
        let folder = tempfile::tempdir().unwrap();
        // This only succeeds as root: no other user may change the owner of a folder.
        if chown(folder.path(), Some(USER), Some(USER)).is_err() {
            return Err("only root can start the systemd of another user");
        }
        chown(folder.path(), Some(0), Some(0)).unwrap();
        let unshare =
            Command::new("unshare").args(["--mount", "--propagation", "private", "true"]).output();
        if !unshare.is_ok_and(|ran| ran.status.success()) {
            return Err("mounts of one's own cannot be had here (in a chroot, say)");
        }
        open(folder.path());
        let machine_home = folder.path().join("home");
        std::fs::create_dir(&machine_home).unwrap();
        chown(&machine_home, Some(USER), Some(USER)).unwrap();
        let mut command = Command::new(SCRIPT);
        command.arg("start").arg(folder.path());
        let running = Running::start(command, &folder.path().join("log"));
        let pid = folder.path().join("pid");
        until("the user's systemd", || async { pid.is_file().then_some(()) }).await;
        Ok(Self { folder, _running: running })
    }

    /// Returns the user's home.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Creates a file that the user owns.
    ///
    /// # Panics
    /// Panics if the file cannot be created.
    pub fn file(&self, name: &str, text: &str) {
        let path = self.home().join(name);
        std::fs::write(&path, text).unwrap();
        chown(&path, Some(USER), Some(USER)).unwrap();
    }

    /// Packs the programs under test as a release that the user can read.
    ///
    /// # Panics
    /// Panics if the release cannot be packed.
    #[must_use]
    pub fn release(&self) -> PathBuf {
        let out = self.folder.path().join("release");
        pack_release(&out);
        open(&out);
        out
    }

    /// Runs a shell line as the user.
    ///
    /// # Panics
    /// Panics if the script cannot be run.
    #[must_use]
    pub fn run(&self, line: &str) -> Ran {
        Command::new(SCRIPT).arg("run").arg(self.folder.path()).arg(line).output().unwrap().into()
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).trim().to_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        }
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        drop(Command::new(SCRIPT).arg("stop").arg(self.folder.path()).status());
    }
}

/// Packs the programs under test as a release in `out`.
pub(crate) fn pack_release(out: &Path) {
    let xtask = program::path("xtask");
    let target = xtask.ancestors().nth(2).unwrap();
    let packed = Command::new(&xtask)
        .args(["dist", "--profile", "dev", "--out"])
        .arg(out)
        .env("CARGO_TARGET_DIR", target)
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(packed.success());
}

/// Makes a folder and its contents readable for every user.
fn open(folder: &Path) {
    let mode = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(folder, 0o755);
    for entry in std::fs::read_dir(folder).unwrap() {
        mode(&entry.unwrap().path(), 0o755);
    }
}
