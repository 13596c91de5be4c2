//! Files and connections that this process may have open at a time.
//!
//! Strangers open connections; files are opened by this process alone. So connections are taken only
//! while there is room, and what is kept back is for files.

use std::io;

#[cfg(unix)]
#[path = "descriptors/unix.rs"]
mod system;
#[cfg(windows)]
#[path = "descriptors/windows.rs"]
mod system;

/// What is kept back for files, the local API and what the agent asks others.
const KEPT_BACK: u64 = 256;

/// What a connection to a serving port may take: itself, the one to an engine that it leads to, and one
/// to another engine that lies idle from the request before.
const OF_EACH: u64 = 3;

/// Connections to serving ports that there always may be, and that there are at most.
const SERVED: std::ops::RangeInclusive<usize> = 32..=2048;

/// Raises what this process may have open to the most that the system lets it have, and returns the
/// limit from then on; nothing where the system has none.
///
/// # Errors
/// When the system refuses; what was allowed before stays.
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
