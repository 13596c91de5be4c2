//! The toolchain for other systems: Debian's Rust with the sources of its standard library, zig as the compiler and
//! linker for C on Linux and macOS, and mingw-w64 on Windows.
//!
//! Every part is found before anything is built. A missing part is named together with the command that brings it.

#![expect(clippy::disallowed_methods, reason = "IO shell: looks for the tools of a build")]

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, ensure};

use super::{frameworks, prefixes};
use crate::dist::{strip::OBJCOPY, target::Target};

/// The versions that `scripts/prepare cross` installs.
const ZIG: &str = "zig-0.17.0/zig";
const ZIGBUILD: &str = "cargo-zigbuild-0.24.0/cargo-zigbuild";
/// Debian's Rust, and the sources of its standard library.
const RUSTC: &str = "/usr/bin/rustc";
const CARGO: &str = "/usr/bin/cargo";
const STANDARD_LIBRARY: &str = "/usr/lib/rustlib/src/rust/library/Cargo.lock";
/// The compiler and linker for Windows.
const MINGW: &str = "/usr/bin/x86_64-w64-mingw32-gcc";
/// The PATH of the build. The programs of rustup have the same names and no library for these systems.
const PATH: &str = "/usr/bin:/bin:/usr/sbin:/sbin";
/// The oldest macOS on which the programs start.
const MACOS: &str = "11.0";

/// What is asked of the compiler.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Work {
    /// Executables, by this profile. Without one, those of a development build have no debug information, because tests
    /// only run them.
    Build(Option<&'static str>),
    /// Only whether everything compiles without a warning.
    Check,
}

/// Returns the command that does `work` for `target`, without its packages, and the folder of the executables.
pub(super) fn command(
    root: &Path,
    folder: &Path,
    target: Target,
    work: Work,
) -> anyhow::Result<(Command, PathBuf)> {
    let folder = folder.join("cross");
    for part in [RUSTC, CARGO, STANDARD_LIBRARY, OBJCOPY] {
        present(Path::new(part))?;
    }
    let cache =
        crate::web::cache().context("neither `LINK_CACHE`, `XDG_CACHE_HOME` nor `HOME` is set")?;
    let (zig, zigbuild) = (cache.join(ZIG), cache.join(ZIGBUILD));
    let mut command = match target {
        Target::WindowsX86 => {
            present(Path::new(MINGW))?;
            let mut command = Command::new(CARGO);
            command.arg(if work == Work::Check { "check" } else { "build" });
            command
        }
        Target::LinuxX86 | Target::MuslX86 | Target::MuslArm | Target::MacX86 | Target::MacArm => {
            present(&zig)?;
            present(&zigbuild)?;
            let mut command = Command::new(zigbuild);
            command.arg(if work == Work::Check { "check" } else { "zigbuild" });
            command.env("CARGO_ZIGBUILD_ZIG_PATH", zig);
            command
        }
    };
    let triple = target.triple();
    command.args(["--locked", "-Zbuild-std=std,panic_unwind", "--target", triple]);
    let (profile, built) = match work {
        Work::Build(Some(profile)) => (profile, profile),
        Work::Build(None) | Work::Check => ("dev", "debug"),
    };
    command.args(["--profile", profile, "--target-dir"]).arg(&folder);
    // Programs that Cargo starts inherit the variables of rustup's Cargo, which started this program.
    for variable in ["RUSTUP_TOOLCHAIN", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "LD_LIBRARY_PATH"]
    {
        command.env_remove(variable);
    }
    command
        .env("PATH", PATH)
        .env("CARGO", CARGO)
        .env("RUSTC", RUSTC)
        .env("RUSTC_BOOTSTRAP", "1") // Allows to build the standard library.
        .env("CARGO_PROFILE_DEV_DEBUG", "false")
        .env("CARGO_PROFILE_DEV_STRIP", "true");
    let variable =
        |name: &str| format!("CARGO_TARGET_{}_{name}", triple.to_uppercase().replace('-', "_"));
    let mut flags = prefixes::hide(root, &folder, triple, &mut command)?;
    match target {
        Target::LinuxX86 => {}
        // The C library is zig's. Debian's Rust has none.
        Target::MuslX86 | Target::MuslArm => flags.push("-Clink-self-contained=no".to_owned()),
        Target::WindowsX86 => {
            // The linker otherwise writes the time of the build into the executable.
            flags.push("-Clink-arg=-Wl,--no-insert-timestamp".to_owned());
            command.env(variable("LINKER"), MINGW);
        }
        Target::MacX86 | Target::MacArm => {
            let stubs = frameworks::write(root, target, &folder.join("frameworks"))?;
            let stubs = stubs.to_str().context("the target folder is not UTF-8")?;
            flags.extend(["F", "L"].map(|kind| format!("-Clink-arg=-{kind}{stubs}")));
            // The compiler would remove debug information with `rust-objcopy`, which Debian's Rust lacks. Cargo gives these flags after
            // those of the profile, and the last one counts.
            flags.push("-Cstrip=none".to_owned());
            command.env("MACOSX_DEPLOYMENT_TARGET", MACOS);
        }
    }
    if work == Work::Check {
        flags.push("-Dwarnings".to_owned());
    }
    // Cargo separates these by spaces. No folder in them has one, which `prefixes` has checked.
    command.env(variable("RUSTFLAGS"), flags.join(" "));
    Ok((command, folder.join(triple).join(built)))
}

fn present(part: &Path) -> anyhow::Result<()> {
    ensure!(
        part.exists(),
        "`{}` is missing, which builds for other systems: run `scripts/prepare cross`",
        part.display()
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tools_are_those_that_are_prepared() {
        let prepare = include_str!("../../../../scripts/prepare");
        let version =
            |part: &str| part.split(['-', '/']).find(|word| word.contains('.')).unwrap().to_owned();
        for (name, part) in [("zig", ZIG), ("zigbuild", ZIGBUILD)] {
            let pinned = format!(" {name}={}", version(part));
            assert!(prepare.contains(&pinned), "{pinned}");
        }
    }

    #[test]
    fn a_missing_tool_is_named_with_what_brings_it() {
        let refused = present(Path::new("/none/zig")).unwrap_err().to_string();
        assert!(refused.contains("/none/zig") && refused.contains("run `scripts/prepare cross`"));
    }
}
