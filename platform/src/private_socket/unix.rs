//! UNIX sockets, and the user id of the program at the other end.

#![expect(clippy::disallowed_methods, reason = "IO shell: a socket is a file")]

use std::{
    fs::Permissions,
    io,
    os::unix::{
        fs::{FileTypeExt as _, PermissionsExt as _},
        net::SocketAddr,
    },
    path::Path,
};

use tokio::net::{UnixListener, UnixStream};

use crate::process;

pub(super) type Stream = UnixStream;
pub(super) type Listener = UnixListener;

pub(super) fn can_stand_at(path: &Path) -> bool {
    SocketAddr::from_pathname(path).is_ok()
}

pub(super) fn bind(path: &Path) -> io::Result<Listener> {
    // Check first that the path fits, before anything is removed.
    SocketAddr::from_pathname(path)?;
    if std::fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket()) {
        std::fs::remove_file(path)?;
    }
    let listener = UnixListener::bind(path)?;
    std::fs::set_permissions(path, Permissions::from_mode(0o600))?;
    Ok(listener)
}

pub(super) async fn accept(listener: &Listener) -> io::Result<Stream> {
    loop {
        let (stream, _address) = listener.accept().await?;
        if is_of_us(&stream) {
            return Ok(stream);
        }
    }
}

pub(super) async fn connect(path: &Path) -> io::Result<Stream> {
    let stream = UnixStream::connect(path).await?;
    if is_of_us(&stream) { Ok(stream) } else { Err(io::ErrorKind::PermissionDenied.into()) }
}

pub(super) async fn connect_to(path: &Path, pid: u32) -> io::Result<Stream> {
    let stream = UnixStream::connect(path).await?;
    let peer = stream.peer_cred()?;
    let listens = peer.pid().and_then(|peer| u32::try_from(peer).ok());
    let is_ours = peer.uid() == rustix::process::getuid().as_raw();
    if is_ours && listens.is_some_and(|listens| process::is_below(listens, pid)) {
        Ok(stream)
    } else {
        Err(io::ErrorKind::PermissionDenied.into())
    }
}

/// Returns whether both ends belong to the same user, or one of them to root, which may act for every user.
fn is_of_us(stream: &Stream) -> bool {
    let own = rustix::process::getuid();
    stream
        .peer_cred()
        .is_ok_and(|peer| peer.uid() == own.as_raw() || peer.uid() == 0 || own.is_root())
}
