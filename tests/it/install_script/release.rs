//! A signed release of the programs under test.

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::UNIX_EPOCH,
};

use link_tests::program;

use super::scratch::{SCRIPT, run};

/// The archive for devices in a release folder.
pub(super) fn archive(release: &Path) -> PathBuf {
    find_archive(release, false)
}

/// The archive for backends in a release folder.
pub(super) fn backend_archive(release: &Path) -> PathBuf {
    find_archive(release, true)
}

fn find_archive(release: &Path, is_of_backend: bool) -> PathBuf {
    let mut entries = std::fs::read_dir(release).unwrap().map(|entry| entry.unwrap().path());
    let is_it = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.ends_with(".tar.gz") && name.ends_with("-backend.tar.gz") == is_of_backend
    };
    entries.find(is_it).unwrap()
}

/// Writes the checksums of the files in a release folder.
pub(super) fn sum_up(release: &Path) {
    let line = "cd \"$0\" && sha256sum *.gz install.sh >SHA256SUMS";
    let ran = run(Command::new("sh").args(["-c", line]).arg(release));
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

/// Packs the programs under test and signs them with a new key. All tests of a build share the
/// result.
pub(super) fn packed() -> PathBuf {
    let mut parts =
        ["link", "link-agent", "link-backend", "link-guard"].map(program::path).to_vec();
    parts.push(SCRIPT.into());
    let stamp = parts.iter().map(|path| {
        let metadata = std::fs::metadata(path).unwrap();
        let changed = metadata.modified().unwrap().duration_since(UNIX_EPOCH).unwrap();
        format!("{:x}", changed.as_nanos())
    });
    let stamp = stamp.collect::<Vec<_>>().join("-");
    let packed = Path::new(env!("CARGO_TARGET_TMPDIR")).join("install-script");
    let release = packed.join(&stamp).join("release");
    std::fs::create_dir_all(&packed).unwrap();
    // Tests run at the same time in their own processes: one packs, and the others wait.
    let lock = std::fs::File::create(packed.join("lock")).unwrap();
    lock.lock().unwrap();
    if release.is_dir() {
        return release;
    }
    for entry in std::fs::read_dir(&packed).unwrap() {
        let old = entry.unwrap().path();
        if old.is_dir() {
            std::fs::remove_dir_all(old).unwrap();
        }
    }
    let made = packed.join("made");
    std::fs::create_dir(&made).unwrap();
    let key = made.join("key");
    let public = run(Command::new(program::path("xtask")).arg("release-key").arg(&key));
    assert_eq!(public.code, Some(0), "{public:?}");
    std::fs::write(made.join("public"), public.stdout).unwrap();
    pack(&made.join("release"), &key);
    std::fs::rename(made, packed.join(stamp)).unwrap();
    release
}

/// Packs the programs under test, signed with `key`.
pub(super) fn pack(out: &Path, key: &Path) {
    let xtask = program::path("xtask");
    let mut command = Command::new(&xtask);
    command.args(["dist", "--profile", "dev", "--out"]).arg(out).arg("--sign-with").arg(key);
    let ran = run(command.env("CARGO_TARGET_DIR", xtask.ancestors().nth(2).unwrap()));
    assert_eq!(ran.code, Some(0), "{ran:?}");
}
