//! A program as the first process of a container.
//!
//! The kernel hands process 1 every orphan of its namespace, and nobody else collects them when they end. So a program that
//! is started as process 1 runs as a child, below a process that only passes signals on and collects whoever has ended.

#[cfg(target_os = "linux")]
#[path = "first_process/linux.rs"]
mod system;
#[cfg(not(target_os = "linux"))]
#[path = "first_process/other.rs"]
mod system;

use std::process::ExitCode;

/// If this is process 1, runs this program again as a child with the same arguments, until it ends. Returns its exit code,
/// 128 more than the signal that has ended it. Returns `None` in any other process. Must be called before anything else.
#[must_use]
pub fn run_below() -> Option<ExitCode> {
    system::run_below()
}
