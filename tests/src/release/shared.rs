//! What all tests of a build share: a release key, and each release that a test has packed.
//!
//! To pack a release takes seconds of a processor and half a gigabyte of writes, and some hundred tests install one. All
//! of them together kept a disk so busy that a backend beside them waited half a minute to write a row.

use std::{
    fmt::Write as _,
    fs::{self, File},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
    time::{SystemTime, UNIX_EPOCH},
};

use sha2::{Digest as _, Sha256};

use crate::program::{self, Elsewhere};

/// The programs in a release.
pub(super) const PROGRAMS: [&str; 4] = ["link", "link-agent", "link-backend", "link-guard"];
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/install.sh");
/// The end of an archive's name.
const ARCHIVE: &str = ".tar.gz";
const DAY_SECONDS: u64 = 86_400;

/// The folder of this build's shared files.
#[derive(Debug)]
pub(super) struct Shared {
    folder: PathBuf,
}

impl Shared {
    /// Opens the folder of this build, and deletes those of other builds.
    ///
    /// A release has a date and expires, so the folder is of today.
    ///
    /// # Panics
    /// Panics if a program is not built or a file cannot be written.
    pub(super) fn open() -> Self {
        let all = folder();
        fs::create_dir_all(&all).unwrap();
        let shared = Self { folder: all.join(stamp()) };
        let _alone = lock();
        if !shared.folder.is_dir() {
            for entry in fs::read_dir(&all).unwrap() {
                let old = entry.unwrap().path();
                if old.is_dir() {
                    fs::remove_dir_all(old).unwrap();
                }
            }
            let made = all.join("made");
            fs::create_dir(&made).unwrap();
            let public = super::new_key(&made.join("key"));
            fs::write(made.join("key.pub"), format!("{public}\n")).unwrap();
            let _foreign = super::new_key(&made.join("foreign"));
            fs::rename(made, &shared.folder).unwrap();
        }
        shared
    }

    /// Returns the file of the key that signs releases.
    pub(super) fn key(&self) -> PathBuf {
        self.folder.join("key")
    }

    /// Returns the public half of the key.
    pub(super) fn trusted(&self) -> String {
        fs::read_to_string(self.folder.join("key.pub")).unwrap().trim().to_owned()
    }

    /// Returns the file of a key that nothing trusts.
    pub(super) fn foreign_key(&self) -> PathBuf {
        self.folder.join("foreign")
    }

    /// Returns the folder of the release that `description` describes. The first test that asks packs it: `pack` writes
    /// to a folder that does not exist.
    ///
    /// Nobody changes a file in this folder: the other tests would install it.
    ///
    /// # Panics
    /// Panics if a test has changed an archive.
    pub(super) fn release(&self, description: &str, pack: impl FnOnce(&Path)) -> PathBuf {
        let release = self.folder.join(&hash(description)[..16]);
        // The state of its archives when it was packed.
        let packed = release.with_extension("packed");
        let _alone = lock();
        if release.is_dir() {
            let before = fs::read_to_string(packed).unwrap();
            assert_eq!(state(&release), before, "a test has changed an archive of all tests");
        } else {
            let made = self.folder.join("made");
            if made.exists() {
                fs::remove_dir_all(&made).unwrap();
            }
            pack(&made);
            fs::write(packed, state(&made)).unwrap();
            fs::rename(made, &release).unwrap();
        }
        release
    }
}

/// Puts the files of a shared release into `folder`, where a test may replace them. Archives are links to the shared
/// ones, so they are replaced and never written to.
///
/// # Panics
/// Panics if a file cannot be written.
pub(super) fn lay_out(release: &Path, folder: &Path) {
    for entry in fs::read_dir(release).unwrap() {
        let from = entry.unwrap().path();
        let name = from.file_name().unwrap();
        let to = folder.join(name);
        drop(fs::remove_file(&to));
        if !is_archive(&from) || fs::hard_link(&from, &to).is_err() {
            fs::copy(&from, &to).unwrap();
        }
    }
}

/// The size and time of each archive in a folder.
fn state(folder: &Path) -> String {
    let mut lines: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| is_archive(path))
        .map(|path| format!("{} {}", path.file_name().unwrap().display(), changed(&path)))
        .collect();
    lines.sort();
    lines.join("\n")
}

fn is_archive(path: &Path) -> bool {
    path.to_string_lossy().ends_with(ARCHIVE)
}

fn changed(path: &Path) -> String {
    let metadata = fs::metadata(path).unwrap();
    let changed = metadata.modified().unwrap().duration_since(UNIX_EPOCH).unwrap();
    format!("{:x}-{:x}", metadata.len(), changed.as_nanos())
}

/// The name of the folder of these programs on this day.
fn stamp() -> String {
    let mut parts = PROGRAMS.map(program::path).to_vec();
    parts.extend([program::path("xtask"), SCRIPT.into()]);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let mut text = format!("{}", now.as_secs() / DAY_SECONDS);
    for part in &parts {
        write!(text, " {}", changed(part)).unwrap();
    }
    hash(&text)[..16].to_owned()
}

fn hash(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Waits until no other test looks into or packs a shared release. Tests run in processes of their own.
fn lock() -> File {
    let file = File::create(folder().join("lock")).unwrap();
    file.lock().unwrap();
    file
}

fn folder() -> PathBuf {
    program::path("xtask").ancestors().nth(2).unwrap().join("tmp/releases")
}

/// Packs the programs in `executables`, or those of this build, and signs them with `key`.
///
/// # Panics
/// Panics if that fails.
pub(super) fn pack(out: &Path, executables: Option<&Path>, key: &Path, options: &[&str]) {
    let xtask = program::path("xtask");
    let mut command = Command::new(&xtask);
    command.args(["dist", "--profile", "dev", "--out"]).arg(out).arg("--sign-with").arg(key);
    let other = Elsewhere::given();
    command.args(other.iter().flat_map(|other| ["--target", &other.triple]));
    // A release has every program, also those that are not tested for the other system.
    let others = other.map(|_| {
        let all = tempfile::tempdir().unwrap();
        for name in PROGRAMS {
            symlink(program::path(name), all.path().join(name)).unwrap();
        }
        all
    });
    if let Some(executables) = executables.or(others.as_ref().map(tempfile::TempDir::path)) {
        command.arg("--executables").arg(executables);
    }
    command.args(options).env("CARGO_TARGET_DIR", xtask.ancestors().nth(2).unwrap());
    let packed = command.output().unwrap();
    assert!(packed.status.success(), "{packed:?}");
}
