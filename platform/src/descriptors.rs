//! The limit on files and connections that this process may have open at the same time.
//!
//! Clients open connections, but only this process opens files. So connections get a part of the descriptors, and the
//! rest is reserved for files.

use std::io;

#[cfg(unix)]
#[path = "descriptors/unix.rs"]
mod system;
#[cfg(windows)]
#[path = "descriptors/windows.rs"]
mod system;

/// Descriptors that are reserved for files, the local API and the agent's own requests.
const KEPT_BACK: u64 = 256;

/// Descriptors per connection to a serving port: its own, that of its connection to an engine, and that of an idle
/// connection to another engine from the previous request.
const OF_EACH: u64 = 3;

/// The minimum and the maximum number of concurrent connections to serving ports.
const SERVED: std::ops::RangeInclusive<usize> = 32..=2048;

/// Raises the limit of this process to the maximum that the system allows, and returns the new limit. None on a system
/// without limits.
///
/// # Errors
/// If the system refuses. Then the previous limit stays.
pub fn raise_limit() -> io::Result<Option<u64>> {
    system::raise_limit()
}

/// Returns the maximum number of concurrent connections to serving ports, so that files always have descriptors.
#[must_use]
pub fn served_connections() -> usize {
    served_of(system::limit())
}

fn served_of(limit: Option<u64>) -> usize {
    let room = limit.map_or(u64::MAX, |limit| limit.saturating_sub(KEPT_BACK) / OF_EACH);
    usize::try_from(room).unwrap_or(usize::MAX).clamp(*SERVED.start(), *SERVED.end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_and_what_they_lead_to_leave_room_for_files() {
        for (limit, served) in [
            (Some(1024), 256),
            (Some(4096), 1280),
            (Some(1_048_576), 2048),
            (Some(256), 32),
            (None, 2048),
        ] {
            assert_eq!(served_of(limit), served, "{limit:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_limit_is_raised() {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

        let before = getrlimit(Resource::Nofile);
        let low = before.current.map(|current| current / 2);
        setrlimit(Resource::Nofile, Rlimit { current: low, ..before }).unwrap();
        assert_eq!(system::limit(), low);
        let limit = raise_limit().unwrap();
        assert_eq!(system::limit(), limit);
        assert!(limit.is_none() || limit > low, "{limit:?} of {low:?}");
    }
}
