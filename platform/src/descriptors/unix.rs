//! File descriptors, and the limit that the system sets for a process.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The limit to request if the system reports an infinite maximum but refuses an infinite limit.
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
