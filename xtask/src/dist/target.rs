//! The systems of a release: how the programs for each are compiled, and how readers ask for them.
//!
//! The compiler's triple and the published name differ on purpose (decision 0086). The name describes a machine, so
//! there is exactly one for each system and processor, and it never changes: installed programs ask by it.

use anyhow::ensure;
use link_installer::layout::Product;
use object::elf;

/// The archives for a device and a backend, and the suffix of the archive's name. The device's archive is the first,
/// because older readers expect only one and take the first for their system.
const ARCHIVES: &[(Product, &str)] = &[(Product::Agent, ""), (Product::Backend, "-backend")];

/// A system that a release can contain, by the triple of the compiler.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, clap::ValueEnum)]
pub(crate) enum Target {
    #[value(name = "x86_64-unknown-linux-gnu")]
    LinuxX86,
    #[value(name = "x86_64-unknown-linux-musl")]
    MuslX86,
    #[value(name = "aarch64-unknown-linux-musl")]
    MuslArm,
    #[value(name = "x86_64-pc-windows-gnu")]
    WindowsX86,
    #[value(name = "x86_64-apple-darwin")]
    MacX86,
    #[value(name = "aarch64-apple-darwin")]
    MacArm,
}

/// The form of an executable.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Form {
    /// Static, for Linux on this processor.
    Linux(elf::Machine),
    Windows,
    Mac(u32),
}

impl Target {
    /// The triple of the compiler.
    pub(super) const fn triple(self) -> &'static str {
        match self {
            Self::LinuxX86 => "x86_64-unknown-linux-gnu",
            Self::MuslX86 => "x86_64-unknown-linux-musl",
            Self::MuslArm => "aarch64-unknown-linux-musl",
            Self::WindowsX86 => "x86_64-pc-windows-gnu",
            Self::MacX86 => "x86_64-apple-darwin",
            Self::MacArm => "aarch64-apple-darwin",
        }
    }

    /// The name by which the manifest, the archives and the installers know this system: that of
    /// `link_platform::facts::target` on such a machine.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::LinuxX86 | Self::MuslX86 => "x86_64-unknown-linux-gnu",
            Self::MuslArm => "aarch64-unknown-linux-gnu",
            Self::WindowsX86 => "x86_64-pc-windows-msvc",
            Self::MacX86 => "x86_64-apple-darwin",
            Self::MacArm => "aarch64-apple-darwin",
        }
    }

    /// The archives of this system. Backends run on Linux.
    pub(super) const fn archives(self) -> &'static [(Product, &'static str)] {
        match self {
            Self::LinuxX86 | Self::MuslX86 | Self::MuslArm => ARCHIVES,
            Self::WindowsX86 | Self::MacX86 | Self::MacArm => ARCHIVES.split_at(1).0,
        }
    }

    /// The file name of a program.
    pub(super) fn file(self, program: &str) -> String {
        match self {
            Self::WindowsX86 => format!("{program}.exe"),
            Self::LinuxX86 | Self::MuslX86 | Self::MuslArm | Self::MacX86 | Self::MacArm => {
                program.to_owned()
            }
        }
    }

    /// The form of this system's executables.
    pub(super) const fn form(self) -> Form {
        match self {
            Self::LinuxX86 | Self::MuslX86 => Form::Linux(elf::EM_X86_64),
            Self::MuslArm => Form::Linux(elf::EM_AARCH64),
            Self::WindowsX86 => Form::Windows,
            Self::MacX86 => Form::Mac(object::macho::CPU_TYPE_X86_64.0),
            Self::MacArm => Form::Mac(object::macho::CPU_TYPE_ARM64.0),
        }
    }
}

/// Returns the chosen targets in the order of the manifest. Without a choice, the one that this machine's own compiler
/// builds.
pub(super) fn chosen(targets: &[Target]) -> anyhow::Result<Vec<Target>> {
    let mut sorted = targets.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    if sorted.is_empty() {
        sorted.push(Target::LinuxX86);
    }
    for (at, later) in sorted.iter().enumerate() {
        for earlier in &sorted[..at] {
            ensure!(
                earlier.name() != later.name(),
                "{} and {} are both the archive {} of a release: choose one of them",
                earlier.triple(),
                later.triple(),
                later.name()
            );
        }
    }
    Ok(sorted)
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;

    use super::*;

    #[test]
    fn the_name_of_this_machine_is_the_one_that_its_programs_ask_for() {
        let here = link_platform::facts::target().unwrap();
        assert!(Target::value_variants().iter().any(|target| target.name() == here), "{here}");
    }

    #[test]
    fn a_target_is_chosen_by_its_triple() {
        for target in Target::value_variants() {
            assert_eq!(Target::from_str(target.triple(), false), Ok(*target));
        }
    }

    #[test]
    fn the_order_of_a_release_is_not_the_order_of_the_options() {
        let [arm, windows] = [Target::MuslArm, Target::WindowsX86];
        assert_eq!(chosen(&[windows, arm, windows]).unwrap(), [arm, windows]);
        assert_eq!(chosen(&[]).unwrap(), [Target::LinuxX86]);
    }

    #[test]
    fn a_release_has_one_build_for_each_machine() {
        let refused = chosen(&[Target::MuslX86, Target::LinuxX86]).unwrap_err().to_string();
        assert!(refused.contains("linux-gnu and x86_64-unknown-linux-musl are both"), "{refused}");
    }

    #[test]
    fn a_device_has_the_first_archive_and_only_linux_has_a_backend() {
        for target in Target::value_variants() {
            let products: Vec<_> = target.archives().iter().map(|(product, _)| *product).collect();
            let expected = match target.form() {
                Form::Linux(_) => &[Product::Agent, Product::Backend][..],
                Form::Windows | Form::Mac(_) => &[Product::Agent],
            };
            assert_eq!(products, expected, "{target:?}");
        }
        assert_eq!(Product::Agent.programs(), ["link", "link-agent", "link-guard"]);
        assert_eq!(Product::Backend.programs(), ["link", "link-backend"]);
        assert_eq!(Target::WindowsX86.file("link"), "link.exe");
    }
}
