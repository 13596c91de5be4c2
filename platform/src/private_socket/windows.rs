//! Not implemented: every call fails with an error that says so.

use std::{convert::Infallible, io, path::Path};

/// A placeholder type: no connection is ever created.
pub(super) type Stream = tokio::io::DuplexStream;
pub(super) type Listener = Infallible;

pub(super) fn can_stand_at(_path: &Path) -> bool {
    false
}

pub(super) fn bind(_path: &Path) -> io::Result<Listener> {
    Err(io::ErrorKind::Unsupported.into())
}

#[expect(clippy::unused_async, reason = "the other systems wait here")]
pub(super) async fn accept(listener: &Listener) -> io::Result<Stream> {
    match *listener {}
}

#[expect(clippy::unused_async, reason = "the other systems wait here")]
pub(super) async fn connect_to(_path: &Path, _pid: u32) -> io::Result<Stream> {
    Err(io::ErrorKind::Unsupported.into())
}

#[expect(clippy::unused_async, reason = "the other systems wait here")]
pub(super) async fn connect(_path: &Path) -> io::Result<Stream> {
    Err(io::ErrorKind::Unsupported.into())
}
