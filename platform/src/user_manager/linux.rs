//! The state of systemd and of the kernel in `/run` and `/proc`.

#![expect(
    clippy::disallowed_methods,
    reason = "IO shell: completes the environment before anything reads it"
)]

use std::{os::unix::fs::MetadataExt as _, path::PathBuf};

const RUNTIME_DIR: &str = "XDG_RUNTIME_DIR";

pub(super) fn complete_environment() {
    if std::env::var_os(RUNTIME_DIR).is_some_and(|folder| !folder.is_empty()) {
        return;
    }
    let user = rustix::process::getuid().as_raw();
    let folder = PathBuf::from(format!("/run/user/{user}"));
    let is_ours = std::fs::metadata(&folder).is_ok_and(|found| found.uid() == user);
    let threads = std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
    if is_ours && threads == 1 {
        #[expect(unsafe_code, reason = "the environment is changed before there is a thread")]
        // SAFETY: no other thread exists that could access the environment at the same time.
        unsafe {
            std::env::set_var(RUNTIME_DIR, folder);
        }
    }
}

pub(super) fn systemd_is_init() -> bool {
    std::fs::read_to_string("/proc/1/comm").is_ok_and(|name| name.trim() == "systemd")
}
