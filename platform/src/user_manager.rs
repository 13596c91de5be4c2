//! The login session of this process, and whether the machine keeps a user's processes running
//! after a logout and restarts them after a reboot.

use std::path::PathBuf;

#[cfg(target_os = "linux")]
#[path = "user_manager/linux.rs"]
mod system;
#[cfg(not(target_os = "linux"))]
#[path = "user_manager/other.rs"]
mod system;
#[cfg(unix)]
#[path = "user_manager/unix.rs"]
mod user;
#[cfg(windows)]
#[path = "user_manager/windows.rs"]
mod user;

/// Sets `XDG_RUNTIME_DIR` if it is unset and the system has created that folder for this user.
///
/// `su`, `sudo` and `cron` do not set it, and without it the user's service manager is not found.
/// Call this in the first line of `main`: it has no effect once there is a second thread.
pub fn complete_environment() {
    system::complete_environment();
}

/// Returns the name of the user that this process runs as.
#[must_use]
pub fn user_name() -> Option<String> {
    user::name()
}

/// Returns the name of the user with the numeric id `id`. None if the system does not know it, or has no such ids.
#[must_use]
pub fn name_of(id: &str) -> Option<String> {
    user::name_of(id)
}

/// Returns the system's identifier of the user that this process runs as: a number on Unix, a security identifier
/// (`S-1-5-…`) on Windows.
#[must_use]
pub fn user_id() -> Option<String> {
    user::id()
}

/// Returns whether this process has the rights of an administrator.
#[must_use]
pub fn is_root() -> bool {
    user::is_root()
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
