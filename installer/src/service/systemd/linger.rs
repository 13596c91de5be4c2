//! Services of a user without a login: requested, and cancelled.

use std::{io, path::PathBuf};

use link_platform::session;

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
/// When the receipt cannot be read or written.
pub fn ask_to_linger(layout: &Layout, user: &str) -> Result<Linger, ServiceError> {
    if session::linger_file(user).exists() {
        return Ok(Linger::Before);
    }
    record_linger(layout, Some(user))?;
    // Named: without a name it works within a login session only.
    let asked = run("loginctl", &["--no-ask-password", "enable-linger", user]);
    if asked.is_ok_and(|answer| answer.success) && session::linger_file(user).exists() {
        return Ok(Linger::Enabled);
    }
    record_linger(layout, None)?;
    Ok(Linger::Refused)
}

/// Releases the lock before the request: systemd may start the guard, which needs the lock.
fn record_linger(layout: &Layout, user: Option<&str>) -> Result<(), ChangeError> {
    let versions = Versions::lock_within(layout, versions::PATIENCE)?;
    versions.change_receipt(|receipt| receipt.linger = user.map(str::to_owned))
}

/// Cancels the request for `user`, and returns what could not be cancelled.
pub(super) fn stop_lingering(user: &str) -> Option<(PathBuf, io::Error)> {
    let asked = run("loginctl", &["--no-ask-password", "disable-linger", user]);
    let file = session::linger_file(user);
    let said = || asked.map(|answer| answer.stderr).unwrap_or_default();
    file.exists().then(|| (file, io::Error::other(said())))
}
