//! The build for users. For Linux it is static, so that it runs on every Linux with this processor architecture, whatever
//! its C library (decision 0009). Other systems are built for on the same machine, with the toolchain of
//! `scripts/prepare cross` (decision 0086).

#![expect(
    clippy::disallowed_methods,
    reason = "IO shell: runs Cargo, which `cargo xtask` names in the environment"
)]

mod cross;
mod frameworks;
mod prefixes;

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::Context as _;
use link_installer::layout::Product;

use crate::dist::{Profile, RELEASE_KEYS, target::Target};

/// The compiler flags for a static C library.
const STATIC: [&str; 2] = ["-C", "target-feature=+crt-static"];

/// Builds the executables of `target`, which trust the release keys in `trusted`, and returns their folder. This is
/// quick if nothing has changed. The output of `cargo build` is taken as it is.
pub(super) fn run(
    root: &Path,
    folder: &Path,
    target: Target,
    profile: Profile,
    trusted: &str,
) -> anyhow::Result<PathBuf> {
    let (mut command, built) = match (target, profile.shipped()) {
        (Target::LinuxX86, None) => return Ok(folder.join("debug")),
        (Target::LinuxX86, Some(profile)) => native(root, folder, profile)?,
        (
            Target::MuslX86
            | Target::MuslArm
            | Target::WindowsX86
            | Target::MacX86
            | Target::MacArm,
            profile,
        ) => cross::command(root, folder, target, cross::Work::Build(profile))?,
    };
    command.env(RELEASE_KEYS, trusted);
    finish(command, root, target, "build")?;
    Ok(built)
}

/// Checks that the programs compile for each of `targets` without a warning, and returns their triples. The first that does
/// not compile is an error.
pub(super) fn check(root: &Path, folder: &Path, targets: &[Target]) -> anyhow::Result<String> {
    let mut checked = targets.to_vec();
    checked.sort_unstable();
    checked.dedup();
    for target in &checked {
        let (command, _) = cross::command(root, folder, *target, cross::Work::Check)?;
        finish(command, root, *target, "check")?;
    }
    let triples: Vec<_> = checked.iter().map(|target| target.triple()).collect();
    Ok(format!("compiles without a warning for {}", triples.join(", ")))
}

fn finish(mut command: Command, root: &Path, target: Target, work: &str) -> anyhow::Result<()> {
    for package in packages(target) {
        command.args(["-p", package]);
    }
    let status = command.current_dir(root).status().context("failed to start Cargo")?;
    anyhow::ensure!(status.success(), "the {work} for {} failed", target.triple());
    Ok(())
}

fn packages(target: Target) -> Vec<&'static str> {
    let mut packages = vec!["link-cli", "link-agent", "link-installer"];
    if target.archives().iter().any(|(product, _)| *product == Product::Backend) {
        packages.push("link-backend");
    }
    packages
}

/// The build with this machine's own compiler.
fn native(root: &Path, folder: &Path, profile: &str) -> anyhow::Result<(Command, PathBuf)> {
    let triple = Target::LinuxX86.triple();
    let cargo = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    // With an explicit target, the flags do not apply to build scripts and procedural macros, which
    // Cargo loads.
    let mut command = Command::new(cargo);
    command
        .args(["build", "--locked", "--profile", profile, "--target", triple])
        .arg("--target-dir")
        .arg(folder);
    let mut flags = STATIC.map(str::to_owned).to_vec();
    flags.extend(prefixes::hide(root, folder, triple, &mut command)?);
    command.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
    Ok((command, folder.join(triple).join(profile)))
}
