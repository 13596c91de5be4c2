//! Checks that an executable is for its target, and needs nothing that its system does not have.
//!
//! On Linux that is the kernel alone. On Windows and macOS a program also uses the system's own libraries, and no other:
//! a library of a compiler is not on the machines of users.

use anyhow::{Context as _, bail, ensure};
use object::{
    Endianness, elf,
    macho::{LinkeditDataCommand, MachHeader64},
    pe,
    read::{
        elf::{Dyn as _, FileHeader as _, ProgramHeader as _},
        macho::MachHeader as _,
        pe::{ImageNtHeaders as _, ImageOptionalHeader as _, PeFile64},
    },
};

use crate::dist::target::Form;

mod signature;

/// The libraries that every Windows since 10 has, without the sets of interfaces, whose names start with `api-ms-win-`.
const WINDOWS: &[&str] = &[
    "advapi32",
    "bcrypt",
    "bcryptprimitives",
    "combase",
    "crypt32",
    "dbghelp",
    "gdi32",
    "iphlpapi",
    "kernel32",
    "ktmw32",
    "msvcrt",
    "ncrypt",
    "netapi32",
    "ntdll",
    "ole32",
    "oleaut32",
    "pdh",
    "powrprof",
    "propsys",
    "psapi",
    "rpcrt4",
    "secur32",
    "shell32",
    "user32",
    "userenv",
    "ws2_32",
];
/// The folders of macOS's own libraries.
const MAC: [&str; 2] = ["/usr/lib/", "/System/Library/"];

/// Refuses a program that cannot be shipped for a system: see [`ensure_fits`] and [`ensure_without_console`].
pub(super) fn ensure_ships(program: &str, contents: &[u8], form: Form) -> anyhow::Result<()> {
    ensure_fits(contents, form)?;
    if form == Form::Windows && program == "link-guard" {
        ensure_without_console(contents)?;
    }
    Ok(())
}

/// Refuses a file that is not an executable of this `form`, or needs a library that its system does not have.
fn ensure_fits(contents: &[u8], form: Form) -> anyhow::Result<()> {
    match form {
        Form::Linux(machine) => ensure_static(contents, machine),
        Form::Windows => ensure_windows(contents),
        Form::Mac(processor) => ensure_mac(contents, processor),
    }
}

fn ensure_static(contents: &[u8], machine: elf::Machine) -> anyhow::Result<()> {
    let header = elf::FileHeader64::<Endianness>::parse(contents).context("not an executable")?;
    let endian = header.endian()?;
    ensure!(header.e_machine(endian) == machine, "the executable is for another processor");
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

fn ensure_windows(contents: &[u8]) -> anyhow::Result<()> {
    let file = PeFile64::parse(contents).context("not an executable")?;
    let machine = file.nt_headers().file_header().machine.get(object::LittleEndian);
    ensure!(machine == pe::IMAGE_FILE_MACHINE_AMD64, "the executable is for another processor");
    let Some(table) = file.import_table()? else { return Ok(()) };
    let mut imports = table.descriptors()?;
    while let Some(import) = imports.next()? {
        let name = table.name(import.name.get(object::LittleEndian))?;
        let name = String::from_utf8_lossy(name).to_lowercase();
        let name = name.strip_suffix(".dll").unwrap_or(&name);
        let is_system = name.starts_with("api-ms-win-") || WINDOWS.contains(&name);
        ensure!(is_system, "the executable needs the library {name}, which is not part of Windows");
    }
    Ok(())
}

/// Refuses a program for Windows that opens a console window where nobody started it from one.
fn ensure_without_console(contents: &[u8]) -> anyhow::Result<()> {
    let file = PeFile64::parse(contents).context("not an executable")?;
    let subsystem = file.nt_headers().optional_header().subsystem();
    ensure!(
        subsystem == pe::IMAGE_SUBSYSTEM_WINDOWS_GUI,
        "the executable opens a console window each time the task scheduler starts it"
    );
    Ok(())
}

fn ensure_mac(contents: &[u8], processor: u32) -> anyhow::Result<()> {
    let header = MachHeader64::<Endianness>::parse(contents, 0).context("not an executable")?;
    let endian = header.endian()?;
    ensure!(header.cputype(endian).0 == processor, "the executable is for another processor");
    let mut commands = header.load_commands(endian, contents, 0)?;
    let mut signature = None;
    while let Some(command) = commands.next()? {
        if let Some(library) = command.dylib()? {
            let name = String::from_utf8_lossy(command.string(endian, library.dylib.name)?);
            let is_system = MAC.iter().any(|folder| name.starts_with(folder));
            ensure!(
                is_system,
                "the executable needs the library {name}, which is not part of macOS"
            );
        }
        if command.cmd() == object::macho::LC_CODE_SIGNATURE {
            let place: &LinkeditDataCommand<Endianness> = command.data()?;
            signature = Some(usize::try_from(place.dataoff.get(endian))?);
        }
    }
    // The kernel of a Mac with an Apple processor ends programs without a signature.
    let needs_signature = processor == object::macho::CPU_TYPE_ARM64.0;
    match signature {
        Some(start) => signature::ensure_matches(contents, start),
        None if needs_signature => bail!("the executable is not signed, so it does not start"),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const X86: Form = Form::Linux(elf::EM_X86_64);

    #[test]
    fn takes_an_executable_that_has_neither_loader_nor_library() {
        ensure_fits(&executable(elf::EM_X86_64, elf::PT_LOAD, &[]), X86).unwrap();
        ensure_fits(&executable(elf::EM_X86_64, elf::PT_DYNAMIC, &[0; 16]), X86).unwrap();
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
            let refused = format!("{:#}", ensure_fits(&contents, X86).unwrap_err());
            assert!(refused.contains(why), "{refused}");
        }
    }

    #[test]
    fn an_executable_is_for_the_processor_of_its_target() {
        let arm = executable(elf::EM_AARCH64, elf::PT_LOAD, &[]);
        ensure_fits(&arm, Form::Linux(elf::EM_AARCH64)).unwrap();
        for form in [X86, Form::Windows, Form::Mac(object::macho::CPU_TYPE_ARM64.0)] {
            ensure_fits(&arm, form).unwrap_err();
        }
    }

    #[test]
    fn a_program_for_macos_uses_only_its_own_libraries_and_is_signed_for_apple_processors() {
        let [x86, arm] = [object::macho::CPU_TYPE_X86_64.0, object::macho::CPU_TYPE_ARM64.0];
        let own = "/usr/lib/libSystem.B.dylib";
        ensure_fits(&mac(x86, own, false), Form::Mac(x86)).unwrap();
        ensure_fits(&mac(arm, own, true), Form::Mac(arm)).unwrap();
        for (contents, form, why) in [
            (mac(arm, own, false), arm, "not signed"),
            (mac(x86, own, true), arm, "another processor"),
            (mac(arm, "/opt/lib/libz.dylib", true), arm, "/opt/lib/libz.dylib, which is not part"),
        ] {
            let refused = format!("{:#}", ensure_fits(&contents, Form::Mac(form)).unwrap_err());
            assert!(refused.contains(why), "{refused}");
        }
    }

    #[test]
    fn a_program_for_windows_uses_only_its_own_libraries() {
        let x86 = pe::IMAGE_FILE_MACHINE_AMD64;
        let own = ["KERNEL32.dll", "api-ms-win-core-synch-l1-2-0.dll", "bcryptprimitives.dll"];
        ensure_fits(&windows(x86, &own), Form::Windows).unwrap();
        ensure_fits(&windows(x86, &[]), Form::Windows).unwrap();
        for (contents, why) in [
            (
                windows(x86, &["KERNEL32.dll", "libgcc_s_seh-1.dll"]),
                "libgcc_s_seh-1, which is not part of Windows",
            ),
            (windows(x86, &["libwinpthread-1.dll", "KERNEL32.dll"]), "libwinpthread-1, which"),
            (windows(x86, &["VCRUNTIME140.dll"]), "vcruntime140, which"),
            (windows(pe::IMAGE_FILE_MACHINE_ARM64, &own), "another processor"),
            (windows(x86, &own)[..100].to_vec(), "not an executable"),
            (b"MZ".to_vec(), "not an executable"),
        ] {
            let refused = format!("{:#}", ensure_fits(&contents, Form::Windows).unwrap_err());
            assert!(refused.contains(why), "{refused}");
        }
    }

    #[test]
    fn a_program_that_the_task_scheduler_starts_has_no_console() {
        let mut program = windows(pe::IMAGE_FILE_MACHINE_AMD64, &[]);
        for (subsystem, is_silent) in
            [(pe::IMAGE_SUBSYSTEM_WINDOWS_GUI, true), (pe::IMAGE_SUBSYSTEM_WINDOWS_CUI, false)]
        {
            program[SUBSYSTEM..SUBSYSTEM + 2].copy_from_slice(&subsystem.0.to_le_bytes());
            let found = ensure_ships("link-guard", &program, Form::Windows);
            assert_eq!(found.is_ok(), is_silent, "{subsystem:?}: {found:?}");
            ensure_ships("link", &program, Form::Windows).unwrap();
        }
    }

    /// Where [`windows`] has the subsystem: after the stub, the signature, the file header and the first fields of the
    /// optional header.
    const SUBSYSTEM: usize = 64 + 4 + 20 + 68;

    /// An executable for Windows with these libraries, of which it uses nothing.
    fn windows(machine: pe::Machine, libraries: &[&str]) -> Vec<u8> {
        let (at, loaded) = (0x200_u32, 0x1000_u32);
        let table = 20 * (u32::try_from(libraries.len()).unwrap() + 1);
        let (mut imports, mut names) = (Vec::new(), Vec::new());
        for library in libraries {
            let name = loaded + table + u32::try_from(names.len()).unwrap();
            imports.extend([loaded, 0, 0, name, loaded].map(u32::to_le_bytes).concat());
            names.extend(library.bytes().chain([0]));
        }
        imports.extend([0; 20]);
        imports.extend(names);
        let size = u32::try_from(imports.len()).unwrap();

        let mut bytes = b"MZ".to_vec();
        bytes.resize(60, 0);
        bytes.extend(64_u32.to_le_bytes());
        bytes.extend(b"PE\0\0");
        bytes.extend([machine.0, 1, 0, 0, 0, 0, 0, 0, 240, 0x22].map(u16::to_le_bytes).concat());
        let optional = bytes.len();
        bytes.extend(0x20b_u16.to_le_bytes());
        bytes.resize(optional + 108, 0);
        bytes.extend([16, 0, 0, loaded, table].map(u32::to_le_bytes).concat());
        bytes.resize(optional + 240, 0);
        bytes.extend(b".idata\0\0");
        bytes.extend([size, loaded, size, at, 0, 0, 0, 0].map(u32::to_le_bytes).concat());
        bytes.resize(at as usize, 0);
        bytes.extend(imports);
        bytes
    }

    /// An executable for macOS with one library.
    fn mac(processor: u32, library: &str, is_signed: bool) -> Vec<u8> {
        let mut name = library.as_bytes().to_vec();
        name.resize(library.len().next_multiple_of(8) + 8, 0);
        let dylib = [0xc, 24 + u32::try_from(name.len()).unwrap(), 24, 0, 0, 0];
        let mut commands: Vec<u8> = dylib.map(u32::to_le_bytes).concat();
        commands.extend(name);
        if is_signed {
            commands.extend([0x1d_u32, 16, 0, 0].map(u32::to_le_bytes).concat());
        }
        let size = u32::try_from(commands.len()).unwrap();
        let count = 1 + u32::from(is_signed);
        let header = [0xfeed_facf, processor, 0, 2, count, size, 0, 0];
        let mut bytes = [header.map(u32::to_le_bytes).concat(), commands].concat();
        if is_signed {
            let end = bytes.len();
            bytes[end - 8..end - 4].copy_from_slice(&u32::try_from(end).unwrap().to_le_bytes());
            bytes.extend(signature::tests::signature(&bytes));
        }
        bytes
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
