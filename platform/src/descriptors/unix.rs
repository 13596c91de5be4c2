//! File descriptors: the system gives the lowest number that is free, so a number tells how many
//! are in use.

use std::{io, os::fd::AsRawFd as _};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::TcpStream;

use super::KEPT_BACK;

/// The most that a system grants which calls its limit infinite, and refuses infinity.
const USUAL: u64 = 10_240;

pub(super) fn raise_limit() -> io::Result<Option<u64>> {
    let limit = getrlimit(Resource::Nofile);
    let raised = |current| setrlimit(Resource::Nofile, Rlimit { current, ..limit });
    let is_higher = limit.current.is_some_and(|current| current < USUAL);
    match raised(limit.maximum) {
        Err(_) if limit.maximum.is_none() && is_higher => raised(Some(USUAL)),
        done => done,
    }?;
    Ok(getrlimit(Resource::Nofile).current)
}

pub(super) fn leave_room_for(stream: &TcpStream) -> bool {
    let number = u64::try_from(stream.as_raw_fd()).unwrap_or_default();
    fits(number, getrlimit(Resource::Nofile).current)
}

pub(super) fn fits(number: u64, limit: Option<u64>) -> bool {
    limit.is_none_or(|limit| number < limit.saturating_sub(KEPT_BACK) / 2)
}
