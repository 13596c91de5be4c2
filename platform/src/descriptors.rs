//! The number of files and connections that this process may have open.
//!
//! Strangers open connections, but only this process opens files. So it accepts connections only while there is room,
//! and keeps a reserve for files.

use std::io;

#[cfg(unix)]
#[path = "descriptors/unix.rs"]
mod system;
#[cfg(windows)]
#[path = "descriptors/windows.rs"]
mod system;

/// Reserve for files, the local API and the agent's own requests.
const KEPT_BACK: u64 = 256;

/// Descriptors that a connection to a serving port may need: its own, that of its connection to an engine, and that of
/// an idle connection to another engine from the previous request.
const OF_EACH: u64 = 3;

/// The fewest and the most connections to serving ports that are accepted.
const SERVED: std::ops::RangeInclusive<usize> = 32..=2048;

/// Raises the limit of this process to the most that the system grants, and returns the new limit. None on a system
/// without limits.
///
/// # Errors
/// If the system refuses. The previous limit then stays.
pub fn raise_limit() -> io::Result<Option<u64>> {
    system::raise_limit()
}

/// Returns how many connections to serving ports this process may hold, so that files always have room.
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
