//! The maintenance commands of the command line, one file each.

pub(crate) mod account;
mod archive;
pub(crate) mod backup;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod migrate;
pub(crate) mod outcome;
pub(crate) mod releases;
pub(crate) mod restore;

use std::{fs::Permissions, os::unix::fs::PermissionsExt as _, path::Path, time::Duration};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use link_platform::{
    fs::{self, Lock},
    user_manager,
};
use link_protocol::exit_code::ExitCode;

use crate::command::outcome::Refused;

/// The file in the data folder that a running backend keeps locked.
pub(crate) const LOCK: &str = "lock";

/// Checks that the data folder exists, so that a mistyped path creates no folder.
pub(crate) fn must_exist(data: &Path) -> Result<(), Refused> {
    if data.is_dir() {
        return Ok(());
    }
    let said = format!("there is no data folder `{}`: give --data DIR", data.display());
    Err(Refused::new(ExitCode::CannotWrite, anyhow::Error::msg(said)))
}

/// Checks that root does not leave files of its own in the data folder of a service that runs as another user, and that
/// could then not read them.
pub(crate) fn must_not_be_root_for_another(data: &Path) -> Result<(), Refused> {
    must_exist(data)?;
    let lock = data.join(LOCK);
    let served_by = if lock.exists() { &lock } else { data };
    let Some(owner) = fs::other_owner(served_by).filter(|_owner| user_manager::is_root()) else {
        return Ok(());
    };
    let said = format!(
        "the data folder `{}` belongs to {owner}, who could not read what root writes there: run the command as that \
         user, with `runuser -u {owner} -- link-backend …`",
        data.display()
    );
    Err(Refused::new(ExitCode::CannotWrite, anyhow::Error::msg(said)))
}

/// Locks the data folder until the returned lock is dropped. Two backends on one folder would deliver each other's
/// commands.
pub(crate) fn lock(data: &Path) -> Result<Lock, Refused> {
    fs::try_lock(&data.join(LOCK))?.ok_or_else(|| {
        let said = format!(
            "another backend uses the data folder `{}`: end it first, or name another folder",
            data.display()
        );
        Refused::new(ExitCode::Busy, anyhow::Error::msg(said))
    })
}

/// Returns a progress bar over `total` bytes, which is visible if standard error is a terminal.
pub(crate) fn bar(total: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes} {eta} {wide_msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// The mode of the backend's folders: only the owner has access.
pub(crate) fn private() -> Permissions {
    Permissions::from_mode(0o700)
}
