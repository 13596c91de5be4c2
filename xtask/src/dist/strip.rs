//! Executables without their symbols, where the compiler leaves them in.

#![expect(
    clippy::disallowed_methods,
    reason = "IO shell: runs programs that remove symbols of a copy"
)]

use std::{
    path::Path,
    process::{Command, Stdio},
};

use anyhow::Context as _;

use crate::dist::{Profile, target::Form};

/// The program that knows executables for macOS, and gives a changed one a new signature. It is LLVM's, from version 14 on.
pub(super) const OBJCOPY: &str = "/usr/bin/llvm-objcopy";

/// Returns the executable at `path`, for a system of this `form`, as it is packed.
///
/// # Errors
/// If the file cannot be read, or the symbols of a shipped program for macOS cannot be removed.
pub(super) fn executable_of(path: &Path, profile: Profile, form: Form) -> anyhow::Result<Vec<u8>> {
    match (profile, form) {
        (Profile::Dev, _) => stripped(path),
        (Profile::Release | Profile::Dist, Form::Mac(_)) => stripped_for_mac(path),
        (Profile::Release | Profile::Dist, Form::Linux(_) | Form::Windows) => {
            Ok(std::fs::read(path)?)
        }
    }
}

/// Returns the executable at `path` without its symbols, which are half of a development build. If `strip` is missing or
/// refuses the file, such as a script, returns the file unchanged.
fn stripped(path: &Path) -> anyhow::Result<Vec<u8>> {
    let folder = tempfile::tempdir()?;
    let copy = folder.path().join("stripped");
    let strip = Command::new("strip").arg("-o").arg(&copy).arg(path).stderr(Stdio::null()).status();
    match strip {
        Ok(status) if status.success() => Ok(std::fs::read(&copy)?),
        Ok(_) | Err(_) => Ok(std::fs::read(path)?),
    }
}

/// Returns the executable for macOS at `path` without its symbols. If it was signed, it is signed again, by its file name.
///
/// # Errors
/// If [`OBJCOPY`] is missing or refuses the file.
fn stripped_for_mac(path: &Path) -> anyhow::Result<Vec<u8>> {
    let folder = tempfile::tempdir()?;
    let copy = folder.path().join(path.file_name().unwrap_or_default());
    let objcopy = Command::new(OBJCOPY).arg("--strip-all").arg(path).arg(&copy).output();
    let output = objcopy.with_context(|| format!("failed to start `{OBJCOPY}`"))?;
    anyhow::ensure!(
        output.status.success(),
        "`{OBJCOPY}` failed: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(std::fs::read(&copy)?)
}
