//! The table of listening sockets, on systems where a library reads it.

use std::net::{IpAddr, Ipv4Addr};

use listeners::{Listener, Protocol};

use super::PortOwner;

pub(super) const KNOWS: bool = true;
pub(super) const RESERVES: bool = false;

pub(super) fn find(port: u16) -> Option<PortOwner> {
    let found = all().find(|listener| listener.socket.port() == port)?;
    Some(PortOwner { pid: found.process.pid, program: found.process.name })
}

pub(super) const fn user_of(_port: u16) -> Option<String> {
    None
}

/// These systems give a socket no number of its own, so a second socket of the same process at the
/// same address counts as the first one.
pub(super) fn listener_of(pid: u32, port: u16) -> Option<String> {
    let wanted = (IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    let is_it = |listener: &Listener| {
        listener.process.pid == pid && (listener.socket.ip(), listener.socket.port()) == wanted
    };
    all().find(is_it).map(|listener| format!("{pid} {}", listener.socket))
}

fn all() -> impl Iterator<Item = Listener> {
    let all = listeners::get_all().unwrap_or_default();
    all.into_iter().filter(|listener| listener.protocol == Protocol::TCP)
}
