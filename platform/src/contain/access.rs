//! What the kernel refuses to a contained program: Landlock refuses files, ports and signals.
//!
//! An older kernel knows fewer of these rules. Then the ones that it knows apply: nothing fails because of the kernel.

use std::{
    io,
    path::{Path, PathBuf},
};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, NetPort,
    PathBeneath, PathFd, Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _,
    RulesetError, Scope, make_bitflags,
};

use super::runtime;
use crate::contain::rules::{Access, Files};

/// The version of Landlock's rules that has files.
pub(super) const FILES: u8 = 1;
/// The version that has ports.
pub(super) const PORTS: u8 = 4;
/// The version that has signals, and the newest that is used.
pub(super) const SIGNALS: u8 = 6;
const NEWEST: u8 = SIGNALS;

/// What every program may read and run: programs, libraries, their data, and what the kernel says.
const SYSTEM: &[&str] = &[
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/usr",
    "/opt",
    "/nix/store",
    "/gnu/store",
    "/proc",
    "/sys",
    "/run/current-system",
    "/run/opengl-driver",
    "/run/opengl-driver-32",
    "/run/systemd/resolve",
];

/// The files of `/etc` that libraries read.
const CONFIGURATION: &[&str] = &[
    "alternatives",
    "ca-certificates",
    "crypto-policies",
    "drirc",
    "glvnd",
    "group",
    "host.conf",
    "hosts",
    "ld-musl-aarch64.path",
    "ld-musl-x86_64.path",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "ld.so.preload",
    "locale.alias",
    "localtime",
    "nsswitch.conf",
    "nvidia",
    "OpenCL",
    "passwd",
    "pki",
    "protocols",
    "python3",
    "resolv.conf",
    "services",
    "ssl",
    "static",
    "timezone",
    "vulkan",
];

/// The devices that every program may use.
const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom"];

/// The names with which the devices of processors for graphics begin.
const GRAPHICS: &[&str] = &["nvidia", "dri", "kfd", "dxg", "accel", "mali", "davinci"];

/// The device that makes AMD's libraries share memory between processes.
const SHARES_MEMORY: &str = "kfd";

/// Returns the newest set of Landlock rules that this system and this module know. Zero if it has none.
pub(super) fn landlock() -> u8 {
    let knows = |abi: &u8| {
        let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        handle(ruleset, ABI::from(i32::from(*abi)), false).and_then(Ruleset::create).is_ok()
    };
    (1..=NEWEST).rev().find(knows).unwrap_or(0)
}

/// Prepares the rules of `access` for `program`. They apply to the process that they are put on, and to all that it starts.
///
/// # Errors
/// If the system refuses the rules. Rules that it does not know are left out.
pub(super) fn prepare(access: &Access, program: &Path) -> io::Result<Option<RulesetCreated>> {
    let Some(files) = &access.files else { return Ok(None) };
    let abi = ABI::from(i32::from(access.landlock.min(NEWEST)));
    if abi == ABI::Unsupported {
        return Ok(None);
    }
    let prepared = handle(Ruleset::default(), abi, access.connects)
        .and_then(Ruleset::create)
        .and_then(|ruleset| allow(ruleset, abi, files, program))
        .and_then(|ruleset| allow_port(ruleset, abi, access.port));
    prepared.map(Some).map_err(io::Error::other)
}

/// Lists what is refused unless a rule allows it.
fn handle(ruleset: Ruleset, abi: ABI, connects: bool) -> Result<Ruleset, RulesetError> {
    let mut ruleset = ruleset.handle_access(AccessFs::from_all(abi))?;
    let ports = match connects {
        true => AccessNet::from_all(abi) & AccessNet::BindTcp,
        false => AccessNet::from_all(abi),
    };
    if !ports.is_empty() {
        ruleset = ruleset.handle_access(ports)?;
    }
    let scope = Scope::from_all(abi);
    if scope.is_empty() { Ok(ruleset) } else { ruleset.scope(scope) }
}

fn allow(
    ruleset: RulesetCreated,
    abi: ABI,
    files: &Files,
    program: &Path,
) -> Result<RulesetCreated, RulesetError> {
    let read = AccessFs::from_read(abi);
    let change = make_bitflags!(AccessFs::{
        ReadFile | ReadDir | WriteFile | RemoveDir | RemoveFile | MakeDir | MakeReg | MakeSock | MakeFifo | MakeSym
            | Refer | Truncate
    });
    let change = change & AccessFs::from_all(abi);
    let device = make_bitflags!(AccessFs::{ReadFile | ReadDir | WriteFile | IoctlDev});
    let device = device & AccessFs::from_all(abi);
    let configuration = CONFIGURATION.iter().map(|name| Path::new("/etc").join(name));
    let system = SYSTEM.iter().map(PathBuf::from).chain(configuration);
    let devices = DEVICES.iter().map(|name| Path::new("/dev").join(name)).chain(graphics());
    let mut ruleset = ruleset;
    for (paths, access) in [
        (system.collect::<Vec<_>>(), read),
        (files.read.clone(), read),
        (runtime::of(program), read),
        (files.write.clone(), change),
        (devices.collect(), device),
        (vec!["/dev".into()], AccessFs::ReadDir.into()),
        (shared_memory(), change),
    ] {
        for path in paths {
            ruleset = allow_path(ruleset, &path, access, abi)?;
        }
    }
    Ok(ruleset)
}

fn allow_port(
    ruleset: RulesetCreated,
    abi: ABI,
    port: Option<u16>,
) -> Result<RulesetCreated, RulesetError> {
    match port.filter(|_| !AccessNet::from_all(abi).is_empty()) {
        Some(port) => ruleset.add_rule(NetPort::new(port, AccessNet::BindTcp)),
        None => Ok(ruleset),
    }
}

/// Allows `access` at and below `path`. A path that does not exist needs no rule.
fn allow_path(
    ruleset: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
    abi: ABI,
) -> Result<RulesetCreated, RulesetError> {
    let Ok(opened) = PathFd::new(path) else { return Ok(ruleset) };
    let of_file = if path.is_dir() { access } else { access & AccessFs::from_file(abi) };
    if of_file.is_empty() {
        return Ok(ruleset);
    }
    ruleset.add_rule(PathBeneath::new(opened, of_file))
}

/// Returns the devices for graphics of this machine.
fn graphics() -> Vec<PathBuf> {
    let entries = std::fs::read_dir("/dev").into_iter().flatten().flatten();
    let is_one = |name: &str| GRAPHICS.iter().any(|start| name.starts_with(start));
    entries
        .filter(|entry| entry.file_name().to_str().is_some_and(is_one))
        .map(|entry| entry.path())
        .collect()
}

fn shared_memory() -> Vec<PathBuf> {
    let needed = Path::new("/dev").join(SHARES_MEMORY).exists();
    if needed { vec!["/dev/shm".into()] } else { vec![] }
}
