//! Executables without their symbols.

#![expect(
    clippy::disallowed_methods,
    reason = "IO shell: runs programs that remove symbols of a copy"
)]

use std::{
    path::Path,
    process::{Command, Stdio},
};

use anyhow::Context as _;
use object::{Object as _, ObjectSymbol as _, elf};

use crate::dist::{Profile, target::Form};

/// The program that removes symbols from executables for other systems, and gives a changed one for macOS a new signature.
/// It is LLVM's, from version 14 on.
pub(super) const OBJCOPY: &str = "/usr/bin/llvm-objcopy";
/// The same for executables of this machine's own kind. It comes with the C compiler.
const NATIVE_OBJCOPY: &str = "objcopy";

/// Returns the executable at `path`, for a system of this `form`, as it is packed.
///
/// # Errors
/// If the file cannot be read, or the symbols of a shipped program cannot be removed.
pub(super) fn executable_of(path: &Path, profile: Profile, form: Form) -> anyhow::Result<Vec<u8>> {
    if profile.shipped().is_none() {
        return stripped_if_possible(path);
    }
    let linked = std::fs::read(path)?;
    if has_symbols(&linked) { stripped(path, objcopy_for(form)) } else { Ok(linked) }
}

/// Returns whether an executable names what it consists of. Names that it wants from libraries do not count.
pub(super) fn has_symbols(executable: &[u8]) -> bool {
    object::File::parse(executable)
        .is_ok_and(|file| file.symbols().any(|symbol| symbol.is_definition()))
}

const fn objcopy_for(form: Form) -> &'static str {
    match form {
        Form::Linux(elf::EM_X86_64) => NATIVE_OBJCOPY,
        Form::Linux(_) | Form::Windows | Form::Mac(_) => OBJCOPY,
    }
}

/// Returns the executable at `path` without its symbols, which are half of a development build. If `strip` is missing or
/// refuses the file, such as a script, returns the file unchanged.
fn stripped_if_possible(path: &Path) -> anyhow::Result<Vec<u8>> {
    let folder = tempfile::tempdir()?;
    let copy = folder.path().join("stripped");
    let strip = Command::new("strip").arg("-o").arg(&copy).arg(path).stderr(Stdio::null()).status();
    match strip {
        Ok(status) if status.success() => Ok(std::fs::read(&copy)?),
        Ok(_) | Err(_) => Ok(std::fs::read(path)?),
    }
}

/// Returns the executable at `path` without its symbols. If it was signed, it is signed again, by its file name.
///
/// # Errors
/// If `objcopy` is missing or refuses the file.
fn stripped(path: &Path, objcopy: &str) -> anyhow::Result<Vec<u8>> {
    let folder = tempfile::tempdir()?;
    let copy = folder.path().join(path.file_name().unwrap_or_default());
    let run = Command::new(objcopy).arg("--strip-all").arg(path).arg(&copy).output();
    let output = run.with_context(|| format!("failed to start `{objcopy}`"))?;
    anyhow::ensure!(
        output.status.success(),
        "`{objcopy}` failed: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(std::fs::read(&copy)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shipped_program_has_no_symbols_and_a_stripped_one_is_left_as_it_is() {
        let this = std::env::current_exe().unwrap();
        assert!(has_symbols(&std::fs::read(&this).unwrap()));
        let form = Form::Linux(elf::EM_X86_64);
        let packed = executable_of(&this, Profile::Dist, form).unwrap();
        assert!(!has_symbols(&packed));
        let folder = tempfile::tempdir().unwrap();
        let again = folder.path().join("link");
        std::fs::write(&again, &packed).unwrap();
        assert!(executable_of(&again, Profile::Dist, form).unwrap() == packed);
    }

    #[test]
    fn what_is_no_executable_has_no_symbols() {
        assert!(!has_symbols(b"#!/bin/sh\n"));
    }
}
