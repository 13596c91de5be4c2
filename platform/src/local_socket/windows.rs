//! tokio has no UNIX sockets on Windows.

use std::{io, path::Path};

use tokio::net::TcpStream;

/// Never made: [`connect`] always fails.
pub(super) type Stream = TcpStream;

pub(super) fn can_stand_at(_path: &Path) -> bool {
    false
}

pub(super) async fn connect(_path: &Path) -> io::Result<Stream> {
    std::future::ready(Err(io::ErrorKind::Unsupported.into())).await
}
