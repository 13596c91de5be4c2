//! The tables of `/proc`.

#![expect(clippy::disallowed_methods, reason = "IO shell: reads the kernel's tables")]

use std::fs;

pub(super) fn environment(pid: u32) -> Option<Vec<(String, String)>> {
    let bytes = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let variables = text.split('\0').filter_map(|variable| variable.split_once('='));
    Some(variables.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

pub(super) fn descriptor_limit(pid: u32) -> Option<u64> {
    let limits = fs::read_to_string(format!("/proc/{pid}/limits")).ok()?;
    let row = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    row.split_whitespace().next()?.parse().ok()
}
