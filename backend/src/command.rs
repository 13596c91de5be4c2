//! One file for each chore of the command line.

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
use link_platform::fs::{self, Lock};
use link_protocol::exit_code::ExitCode;

use crate::command::outcome::Refused;

/// The file in the data folder that a running backend holds locked.
pub(crate) const LOCK: &str = "lock";

/// A chore on a folder that is mistyped must not make one.
pub(crate) fn must_exist(data: &Path) -> Result<(), Refused> {
    if data.is_dir() {
        return Ok(());
    }
    let said = format!("there is no data folder `{}`: give --data DIR", data.display());
    Err(Refused::new(ExitCode::CannotWrite, anyhow::Error::msg(said)))
}

/// Makes sure that nobody else works on the data folder as long as the lock lives. Two backends
/// would hand out each other's commands.
pub(crate) fn lock(data: &Path) -> Result<Lock, Refused> {
    fs::try_lock(&data.join(LOCK))?.ok_or_else(|| {
        let said = format!(
            "another backend uses the data folder `{}`: end it first, or name another folder",
            data.display()
        );
        Refused::new(ExitCode::Busy, anyhow::Error::msg(said))
    })
}

/// Returns a bar over `total` bytes on the standard error, where that is a terminal.
pub(crate) fn bar(total: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes} {eta} {wide_msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// What a folder of ours allows: nothing to anybody else.
pub(crate) fn private() -> Permissions {
    Permissions::from_mode(0o700)
}
