//! File descriptors, and the limit that the system gives a process.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The most that a system grants if it calls its limit infinite but refuses infinity.
const USUAL: u64 = 10_240;

pub(super) fn raise_limit() -> io::Result<Option<u64>> {
    let before = getrlimit(Resource::Nofile);
    let raised = |current| setrlimit(Resource::Nofile, Rlimit { current, ..before });
    let is_higher = before.current.is_some_and(|current| current < USUAL);
    match raised(before.maximum) {
        Err(_) if before.maximum.is_none() && is_higher => raised(Some(USUAL)),
        done => done,
    }?;
    Ok(limit())
}

pub(super) fn limit() -> Option<u64> {
    getrlimit(Resource::Nofile).current
}
