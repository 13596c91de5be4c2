//! A temporary home to install the programs under test in.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use link_tests::{device::free_port, release, tree};

pub(super) const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/install.sh");

/// A name with a space, as on some systems.
const HOME: &str = "a user";

/// The shells in which the script must run, by the name to print.
const SHELLS: [&[&str]; 5] =
    [&["dash"], &["bash"], &["busybox", "ash"], &["zsh"], &["zsh", "--emulate", "sh"]];

/// The place of a test's installation. Dropping the value stops what was installed.
pub(super) struct Scratch {
    dir: tempfile::TempDir,
    pub(super) release: PathBuf,
    port: u16,
}

/// The output and the exit code of a run.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) code: Option<i32>,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Scratch {
    pub(super) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for folder in [HOME, "tmp"] {
            std::fs::create_dir(dir.path().join(folder)).unwrap();
        }
        Self { dir, release: release::as_built(), port: free_port().get() }
    }

    pub(super) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// The user's home folder, which contains every installation of these tests.
    pub(super) fn home(&self) -> PathBuf {
        self.path().join(HOME)
    }

    /// The value of `LINK_HOME`.
    pub(super) fn link_home(&self) -> PathBuf {
        self.home().join("a link")
    }

    /// `shell` with only the environment variables that an installation from `url` needs.
    pub(super) fn shell(&self, shell: &[&str], url: &str) -> Command {
        let mut command = Command::new(which(shell[0]).unwrap());
        command
            .args(&shell[1..])
            .env_clear()
            .env("PATH", path())
            .env("HOME", self.home())
            .env("TMPDIR", self.path().join("tmp"))
            .env("LINK_HOME", self.link_home())
            .env("LINK_SERVICE", "none")
            .env("LINK_LOCAL_PORT", self.port.to_string())
            .env("LINK_INSTALL_URL", url)
            .env("LINK_DEV_RELEASE_KEYS", self.public_key())
            .stdin(Stdio::null());
        command
    }

    /// The script in `shell`, for an installation from `url`.
    pub(super) fn script(&self, shell: &[&str], url: &str) -> Command {
        let mut command = self.shell(shell, url);
        command.arg(SCRIPT);
        command
    }

    /// Installs from `url`, in the shell that Debian uses as `sh`.
    pub(super) fn install(&self, url: &str) -> Ran {
        run(&mut self.script(&["dash"], url))
    }

    pub(super) fn uninstall(&self) {
        let ran = run(self.script(&["dash"], "").arg("--uninstall"));
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }

    pub(super) fn file_url(&self) -> String {
        file_url(&self.release)
    }

    /// Runs the installed command.
    pub(super) fn link(&self, arguments: &[&str]) -> Ran {
        run(&mut self.command(arguments))
    }

    /// The installed command with `arguments`.
    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.link_home().join("bin/link"));
        command
            .args(arguments)
            .env("LINK_HOME", self.link_home())
            .env("LINK_LOCAL_PORT", self.port.to_string());
        command
    }

    /// Every path in the home and in the folder for temporary files, with the contents of the
    /// files.
    pub(super) fn tree(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        tree::of(&[&self.home(), &self.path().join("tmp")])
    }

    /// A private copy of the release folder, in which a test can change files.
    pub(super) fn copy_of_release(&self, name: &str) -> PathBuf {
        let copy = self.path().join(name);
        std::fs::create_dir(&copy).unwrap();
        for entry in std::fs::read_dir(&self.release).unwrap() {
            let path = entry.unwrap().path();
            let to = copy.join(path.file_name().unwrap());
            std::fs::copy(&path, to).unwrap();
        }
        copy
    }

    /// A value of PATH with all programs of this machine, but only `tool` of the download programs.
    /// None if it is not installed.
    pub(super) fn path_with_only(&self, tool: &str) -> Option<PathBuf> {
        let Some(program) = which(tool) else {
            eprintln!("skipped: {tool} is not installed");
            return None;
        };
        let folder = self.path().join(tool);
        if folder.exists() {
            return Some(folder);
        }
        std::fs::create_dir(&folder).unwrap();
        symlink(program, folder.join(tool)).unwrap();
        for place in std::env::split_paths(&path()) {
            for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
                let name = entry.file_name();
                if name != "curl" && name != "wget" {
                    // The first program of a name wins, as on PATH.
                    drop(symlink(entry.path(), folder.join(name)));
                }
            }
        }
        Some(folder)
    }

    /// The key that the release is signed with.
    pub(super) fn public_key(&self) -> String {
        let file = self.release.with_file_name("key.pub");
        std::fs::read_to_string(file).unwrap().trim().to_owned()
    }
}

impl Drop for Scratch {
    /// Stops the installed programs, which would outlive a failed test.
    fn drop(&mut self) {
        if self.link_home().join("bin/link").exists() {
            drop(self.link(&["stop"]));
        }
    }
}

/// Runs a command to its end.
pub(super) fn run(command: &mut Command) -> Ran {
    command.output().unwrap().into()
}

/// The shells of this machine. Prints the missing ones.
pub(super) fn shells() -> impl Iterator<Item = &'static [&'static str]> {
    SHELLS.into_iter().filter(|shell| {
        let is_here = which(shell[0]).is_some();
        if !is_here {
            eprintln!("skipped: {} is not installed", shell[0]);
        }
        is_here
    })
}

/// The path of a program.
pub(super) fn which(program: &str) -> Option<PathBuf> {
    std::env::split_paths(&path()).map(|folder| folder.join(program)).find(|path| path.is_file())
}

fn path() -> OsString {
    std::env::var_os("PATH").unwrap()
}

pub(super) fn file_url(folder: &Path) -> String {
    format!("file://{}", folder.display())
}
