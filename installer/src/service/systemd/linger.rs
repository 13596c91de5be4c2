//! Requests and cancels lingering: systemd runs the services of a user without a login.

use std::{io, path::PathBuf};

use link_platform::user_manager;

use super::{ServiceError, run};
use crate::{
    layout::Layout,
    versions::{self, ChangeError, Versions},
};

/// The outcome of a request to run services without a login.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Linger {
    Before,
    Enabled,
    Refused,
}

/// Asks systemd to run the services of `user` without a login.
///
/// # Errors
/// If the receipt cannot be read or written.
pub fn ask_to_linger(layout: &Layout, user: &str) -> Result<Linger, ServiceError> {
    if user_manager::linger_file(user).exists() {
        return Ok(Linger::Before);
    }
    record_linger(layout, Some(user))?;
    // Name the user: without a name, the request works only within a login session.
    let asked = run("loginctl", &["--no-ask-password", "enable-linger", user]);
    if asked.is_ok_and(|answer| answer.success) && user_manager::linger_file(user).exists() {
        return Ok(Linger::Enabled);
    }
    record_linger(layout, None)?;
    Ok(Linger::Refused)
}

/// Records the user in the receipt. Releases the lock before the request to systemd, which may
/// start the guard, and the guard needs the lock.
fn record_linger(layout: &Layout, user: Option<&str>) -> Result<(), ChangeError> {
    let versions = Versions::lock_within(layout, versions::PATIENCE)?;
    versions.change_receipt(|receipt| receipt.linger = user.map(str::to_owned))
}

/// Cancels the request for `user`. Returns the error if that fails.
pub(super) fn stop_lingering(user: &str) -> Option<(PathBuf, io::Error)> {
    let asked = run("loginctl", &["--no-ask-password", "disable-linger", user]);
    let file = user_manager::linger_file(user);
    let said = || asked.map(|answer| answer.stderr).unwrap_or_default();
    file.exists().then(|| (file, io::Error::other(said())))
}
