//! Sockets of the file system.

use std::{io, os::unix::net::SocketAddr, path::Path};

use tokio::net::UnixStream;

pub(super) type Stream = UnixStream;

pub(super) fn can_stand_at(path: &Path) -> bool {
    SocketAddr::from_pathname(path).is_ok()
}

pub(super) async fn connect(path: &Path) -> io::Result<Stream> {
    UnixStream::connect(path).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_is_too_long_for_an_address_holds_no_socket() {
        assert!(can_stand_at(Path::new("/home/ada/.local/state/link/run/engine.sock")));
        assert!(!can_stand_at(Path::new(&format!("/{}", "x".repeat(110)))));
    }
}
