//! The build for users: static, so that it runs on every Linux with this processor architecture,
//! whatever its C library (decision 0009).

#![expect(
    clippy::disallowed_methods,
    reason = "IO shell: runs Cargo, which `cargo xtask` names in the environment"
)]

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::Context as _;

use crate::dist::{RELEASE_KEYS, TARGET};

/// The compiler flags for a static C library, in Cargo's encoding.
const FLAGS: &str = "-C\x1ftarget-feature=+crt-static";

/// Builds the executables, which trust the release keys in `trusted`, and returns their folder.
/// This is quick if nothing has changed.
pub(super) fn run(
    root: &Path,
    target: &Path,
    profile: &str,
    trusted: &str,
) -> anyhow::Result<PathBuf> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    // With an explicit target, the flags do not apply to build scripts and procedural macros, which
    // Cargo loads.
    let status = Command::new(cargo)
        .current_dir(root)
        .args(["build", "--locked", "--profile", profile, "--target", TARGET])
        .args(["-p", "link-cli", "-p", "link-agent", "-p", "link-backend", "-p", "link-installer"])
        .arg("--target-dir")
        .arg(target)
        .env("CARGO_ENCODED_RUSTFLAGS", FLAGS)
        .env(RELEASE_KEYS, trusted)
        .status()
        .context("failed to start Cargo")?;
    anyhow::ensure!(status.success(), "the build failed");
    Ok(target.join(TARGET).join(profile))
}
