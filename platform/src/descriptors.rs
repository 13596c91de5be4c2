//! Files and connections that this process may have open at a time.
//!
//! Strangers open connections; files are opened by this process alone. So connections are taken only
//! while there is room, and what is kept back is for files.

use std::io;

use tokio::net::TcpStream;

#[cfg(unix)]
#[path = "descriptors/unix.rs"]
mod system;
#[cfg(windows)]
#[path = "descriptors/windows.rs"]
mod system;

/// What no connection may take.
#[cfg(unix)]
const KEPT_BACK: u64 = 128;

/// Raises what this process may have open to the most that the system lets it have, and returns the
/// limit from then on; nothing where the system has none.
///
/// # Errors
/// When the system refuses; what was allowed before stays.
pub fn raise_limit() -> io::Result<Option<u64>> {
    system::raise_limit()
}

/// Tells whether a connection that was just taken may stay: it and one more that it leads to leave
/// enough for files, however many others are taken at this moment.
#[must_use]
pub fn leave_room_for(stream: &TcpStream) -> bool {
    system::leave_room_for(stream)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn connections_take_less_than_half_of_what_is_not_kept_back() {
        for (number, limit, fits) in [
            (447, Some(1024), true),
            (448, Some(1024), false),
            (63, Some(256), true),
            (64, Some(256), false),
            (9, Some(100), false),
            (1_000_000, None, true),
        ] {
            assert_eq!(system::fits(number, limit), fits, "{number} of {limit:?}");
        }
    }

    #[tokio::test]
    async fn the_limit_is_raised_and_a_first_connection_has_room() {
        raise_limit().unwrap();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (_client, accepted) = tokio::join!(TcpStream::connect(address), listener.accept());
        assert!(leave_room_for(&accepted.unwrap().0));
    }
}
