//! One file for each chore of the command line.

pub(crate) mod account;
pub(crate) mod config;

use std::path::Path;

use link_protocol::exit_code::ExitCode;

use crate::outcome::Refused;

/// A chore on a folder that is mistyped must not make one.
pub(crate) fn must_exist(data: &Path) -> Result<(), Refused> {
    if data.is_dir() {
        return Ok(());
    }
    let said = format!("there is no data folder `{}`: give --data DIR", data.display());
    Err(Refused::new(ExitCode::CannotWrite, anyhow::Error::msg(said)))
}
