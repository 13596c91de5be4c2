//! UNIX sockets: a way between two processes of one user that no other user can take, because the
//! socket stands in a folder that only this user can enter.

use std::{io, path::Path};

#[cfg(unix)]
#[path = "local_socket/unix.rs"]
mod system;
#[cfg(windows)]
#[path = "local_socket/windows.rs"]
mod system;

/// A connection to a socket.
pub type Stream = system::Stream;

/// Tells whether a socket can stand at `path`: the system has UNIX sockets, and the path fits into
/// their address (107 bytes on Linux, 103 on macOS).
#[must_use]
pub fn can_stand_at(path: &Path) -> bool {
    system::can_stand_at(path)
}

/// Connects to the socket at `path`.
///
/// # Errors
/// When nobody listens there, this user may not connect, or the system has no UNIX sockets.
pub async fn connect(path: &Path) -> io::Result<Stream> {
    system::connect(path).await
}
