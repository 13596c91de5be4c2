//! The kernel's socket tables name the inode of each socket. The process that has this inode open is the owner.

#![expect(clippy::disallowed_methods, reason = "IO shell: reads the kernel's tables")]

use std::{fs, path::Path};

use super::PortOwner;
use crate::user_manager;

/// The state column of a listening socket.
const LISTEN: &str = "0A";

/// 127.0.0.1 in the format of the table: a number in the byte order of the machine.
#[cfg(target_endian = "little")]
const LOOPBACK: &str = "0100007F";
#[cfg(target_endian = "big")]
const LOOPBACK: &str = "7F000001";

pub(super) const KNOWS: bool = true;
pub(super) const RESERVES: bool = false;

pub(super) fn find(port: u16) -> Option<PortOwner> {
    let inode = listener(port, |found| found.inode.to_owned())?;
    let link = format!("socket:[{inode}]");
    fs::read_dir("/proc").ok()?.flatten().find_map(|entry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        has_open(&entry.path(), &link).then(|| PortOwner { pid, program: program(&entry.path()) })
    })
}

pub(super) fn user_of(port: u16) -> Option<String> {
    let user = listener(port, |found| found.user.to_owned())?;
    user_manager::name_of(&user).or(Some(user))
}

/// Returns what `read` takes from the row of the socket that listens on `port`.
fn listener<T>(port: u16, read: impl Fn(&Listening<'_>) -> T) -> Option<T> {
    ["/proc/net/tcp", "/proc/net/tcp6"].into_iter().find_map(|table| {
        let text = fs::read_to_string(table).ok()?;
        let mut rows = text.lines().skip(1).filter_map(listening);
        rows.find(|found| found.port == port).map(|found| read(&found))
    })
}

pub(super) fn listener_of(pid: u32, port: u16) -> Option<String> {
    let text = fs::read_to_string("/proc/net/tcp").ok()?;
    let process = format!("/proc/{pid}");
    text.lines().skip(1).filter_map(listening).find_map(|found| {
        let is_there = found.address == LOOPBACK && found.port == port;
        let is_its = || has_open(Path::new(&process), &format!("socket:[{}]", found.inode));
        (is_there && is_its()).then(|| found.inode.to_owned())
    })
}

/// The fields of a table row that describes a listening socket.
struct Listening<'a> {
    address: &'a str,
    port: u16,
    /// The numeric id of the user.
    user: &'a str,
    inode: &'a str,
}

fn listening(line: &str) -> Option<Listening<'_>> {
    let mut columns = line.split_whitespace();
    let local = columns.nth(1)?;
    let state = columns.nth(1)?;
    let user = columns.nth(3)?;
    let inode = columns.nth(1)?;
    let (address, port) = local.rsplit_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    (state == LISTEN).then_some(Listening { address, port, user, inode })
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
