//! The login session that this process runs in, and what the machine promises to the processes of
//! a user: whether they outlive a logout and come back after a reboot.

use std::{path::PathBuf, time::Duration};

use crate::process::{self, Call};

#[cfg(target_os = "linux")]
#[path = "session/linux.rs"]
mod system;
#[cfg(not(target_os = "linux"))]
#[path = "session/other.rs"]
mod system;

/// Sets `XDG_RUNTIME_DIR` if it is absent and the system has created that folder for this user.
///
/// `su`, `sudo` and `cron` leave it out, and without it the user's service manager is not found.
/// For the first line of `main`: has no effect once there is a second thread.
pub fn complete_environment() {
    system::complete_environment();
}

/// Returns the name of the user that this process belongs to, as the system knows it.
#[must_use]
pub fn user_name() -> Option<String> {
    let limit = Duration::from_secs(10);
    let asked = Call { program: "id".into(), args: vec!["-un".into()], env: None, limit };
    process::call(&asked).ok().filter(|answer| answer.success).map(|answer| answer.stdout)
}

/// Returns whether this process may do everything on this machine.
#[must_use]
pub fn is_root() -> bool {
    let limit = Duration::from_secs(10);
    let asked = Call { program: "id".into(), args: vec!["-u".into()], env: None, limit };
    process::call(&asked).is_ok_and(|answer| answer.success && answer.stdout == "0")
}

/// Returns whether systemd is the first process of this machine.
#[must_use]
pub fn systemd_is_init() -> bool {
    system::systemd_is_init()
}

/// The file that exists while systemd keeps the services of `user` running without a login.
#[must_use]
pub fn linger_file(user: &str) -> PathBuf {
    PathBuf::from("/var/lib/systemd/linger").join(user)
}
