//! A script whose download was truncated.

use std::{
    io::Write as _,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, Stdio},
};

use super::scratch::{SCRIPT, which};

/// Every program that the script calls, and more that could have an effect.
const STUBS: &[&str] = &[
    "awk",
    "cat",
    "chmod",
    "cp",
    "curl",
    "cut",
    "dirname",
    "kill",
    "ln",
    "mkdir",
    "mktemp",
    "mv",
    "openssl",
    "rm",
    "rmdir",
    "sed",
    "sh",
    "sha256sum",
    "shasum",
    "sleep",
    "tar",
    "tr",
    "uname",
    "wc",
    "wget",
];

#[test]
fn a_script_that_is_cut_at_any_byte_calls_nothing_and_fails() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("bin")).unwrap();
    std::fs::create_dir(dir.path().join("home")).unwrap();
    for stub in STUBS {
        let path = dir.path().join("bin").join(stub);
        std::fs::write(&path, "#!/bin/sh\necho \"$0 $*\" >>\"$CALLS\"\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let whole = std::fs::read(SCRIPT).unwrap();
    let first_line = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let last = whole.trim_ascii_end().len() - 1;
    let full = std::env::var_os("LINK_TEST_FULL").is_some();
    for (shell, step) in [("dash", 1), ("bash", if full { 1 } else { 16 })] {
        let Some(shell) = which(shell) else {
            eprintln!("skipped: {shell} is not installed");
            continue;
        };
        let workers = std::thread::available_parallelism().map_or(2, usize::from);
        std::thread::scope(|scope| {
            for worker in 0..workers {
                let (dir, whole, shell) = (dir.path(), &whole, &shell);
                scope.spawn(move || {
                    let ends = (first_line + 1..=last).step_by(step).skip(worker);
                    for end in ends.step_by(workers) {
                        assert!(!succeeds(shell, dir, &whole[..end]), "cut at {end}");
                    }
                });
            }
        });
        assert!(!dir.path().join("calls").exists(), "something was called");
        assert_eq!(std::fs::read_dir(dir.path().join("home")).unwrap().count(), 0);
        // Proof that the stubs work: the whole script does call them.
        succeeds(&shell, dir.path(), &whole);
        std::fs::remove_file(dir.path().join("calls")).unwrap();
    }
}

/// Pipes `script` to a shell whose programs only report that they were called.
fn succeeds(shell: &Path, dir: &Path, script: &[u8]) -> bool {
    let mut child = Command::new(shell)
        .env_clear()
        .env("PATH", dir.join("bin"))
        .env("CALLS", dir.join("calls"))
        .env("HOME", dir.join("home"))
        .env("LINK_INSTALL_URL", "https://release.example")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // A shell that has met an error does not read the rest.
    drop(child.stdin.take().unwrap().write_all(script));
    child.wait().unwrap().success()
}
