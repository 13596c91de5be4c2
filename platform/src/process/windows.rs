//! Process control on Windows, with the standard library alone.

use std::{
    os::windows::process::CommandExt as _,
    process::{Child, Command},
};

/// The creation flag that starts a detached child without our console.
const DETACHED_PROCESS: u32 = 0x0000_0008;

pub(super) fn tie_to_parent(_command: &mut Command) {}

pub(super) fn detach(command: &mut Command) {
    command.creation_flags(DETACHED_PROCESS);
}

pub(super) fn replace_image(_command: &mut Command) -> std::io::Error {
    std::io::ErrorKind::Unsupported.into()
}

pub(super) fn own_group(_command: &mut Command) {}

pub(super) fn kill_group(_pid: u32) {}

pub(super) fn terminate(_child: &Child) {}

pub(super) fn kill(child: &mut Child) {
    let _gone = child.kill();
}

pub(super) fn terminate_pid(_pid: u32) -> bool {
    false
}

pub(super) fn exists(_pid: u32) -> bool {
    false
}

pub(super) fn kill_self() -> ! {
    std::process::abort()
}
