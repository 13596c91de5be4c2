//! Checks that an executable needs nothing from the system except the kernel.

use anyhow::{Context as _, bail, ensure};
use object::{
    Endianness, elf,
    read::elf::{Dyn as _, FileHeader as _, ProgramHeader as _},
};

/// Refuses a file that is not an executable for this target, has a loader, or needs a library.
pub(super) fn ensure_static(contents: &[u8]) -> anyhow::Result<()> {
    let header = elf::FileHeader64::<Endianness>::parse(contents).context("not an executable")?;
    let endian = header.endian()?;
    ensure!(header.e_machine(endian) == elf::EM_X86_64, "the executable is for another processor");
    for segment in header.program_headers(endian, contents)? {
        if let Some(loader) = segment.interpreter(endian, contents)? {
            bail!(
                "the executable needs the loader {}, so it is not static",
                String::from_utf8_lossy(loader)
            );
        }
        let entries = segment.dynamic(endian, contents)?.unwrap_or_default();
        let needs_library = entries.iter().any(|entry| entry.d_tag(endian) == elf::DT_NEEDED);
        ensure!(!needs_library, "the executable needs a library, so it is not static");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_an_executable_that_has_neither_loader_nor_library() {
        ensure_static(&executable(elf::EM_X86_64, elf::PT_LOAD, &[])).unwrap();
        ensure_static(&executable(elf::EM_X86_64, elf::PT_DYNAMIC, &[0; 16])).unwrap();
    }

    #[test]
    fn refuses_every_other_file_and_says_why() {
        let library: Vec<u8> =
            [elf::DT_NEEDED.0.to_le_bytes(), 1_u64.to_le_bytes(), [0; 8], [0; 8]].concat();
        for (contents, why) in [
            (
                executable(elf::EM_X86_64, elf::PT_INTERP, b"/lib/ld.so\0"),
                "needs the loader /lib/ld.so",
            ),
            (executable(elf::EM_X86_64, elf::PT_DYNAMIC, &library), "needs a library"),
            (executable(elf::EM_AARCH64, elf::PT_LOAD, &[]), "another processor"),
            (b"#!/bin/sh\n".to_vec(), "not an executable"),
            (executable(elf::EM_X86_64, elf::PT_INTERP, b"/lib/ld.so")[..100].to_vec(), "Invalid"),
        ] {
            let refused = format!("{:#}", ensure_static(&contents).unwrap_err());
            assert!(refused.contains(why), "{refused}");
        }
    }

    /// An executable with one segment.
    fn executable(machine: elf::Machine, kind: elf::ProgramType, segment: &[u8]) -> Vec<u8> {
        let size = segment.len() as u64;
        let mut bytes = vec![0x7f, b'E', b'L', b'F', 2, 1, 1];
        bytes.resize(16, 0);
        bytes.extend([2_u16.to_le_bytes(), machine.0.to_le_bytes()].concat());
        bytes.extend(1_u32.to_le_bytes());
        bytes.extend([0_u64, 64, 0].map(u64::to_le_bytes).concat());
        bytes.extend(0_u32.to_le_bytes());
        bytes.extend([64_u16, 56, 1, 0, 0, 0].map(u16::to_le_bytes).concat());
        bytes.extend([kind.0, 4].map(u32::to_le_bytes).concat());
        bytes.extend([120, 120, 120, size, size, 8].map(u64::to_le_bytes).concat());
        bytes.extend(segment);
        bytes
    }
}
