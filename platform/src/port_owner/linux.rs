//! The kernel's socket tables name an inode; the process that has it open is the owner.

#![expect(clippy::disallowed_methods, reason = "IO shell: reads the kernel's tables")]

use std::{fs, path::Path};

use super::PortOwner;

/// The state column of a listening socket.
const LISTEN: &str = "0A";

pub(super) fn find(port: u16) -> Option<PortOwner> {
    let inode = ["/proc/net/tcp", "/proc/net/tcp6"].into_iter().find_map(|table| {
        let text = fs::read_to_string(table).ok()?;
        text.lines().skip(1).find_map(|line| listening_inode(line, port))
    })?;
    let link = format!("socket:[{inode}]");
    fs::read_dir("/proc").ok()?.flatten().find_map(|entry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        has_open(&entry.path(), &link).then(|| PortOwner { pid, program: program(&entry.path()) })
    })
}

fn listening_inode(line: &str, port: u16) -> Option<String> {
    let mut columns = line.split_whitespace();
    let local = columns.nth(1)?;
    let state = columns.nth(1)?;
    let inode = columns.nth(5)?;
    let found = u16::from_str_radix(local.rsplit(':').next()?, 16).ok()?;
    (state == LISTEN && found == port).then(|| inode.to_owned())
}

fn has_open(process: &Path, link: &str) -> bool {
    let Ok(descriptors) = fs::read_dir(process.join("fd")) else { return false };
    descriptors
        .flatten()
        .any(|entry| fs::read_link(entry.path()).is_ok_and(|target| target.as_os_str() == link))
}

fn program(process: &Path) -> String {
    fs::read_to_string(process.join("comm"))
        .map_or_else(|_| "unknown".to_owned(), |name| name.trim().to_owned())
}
