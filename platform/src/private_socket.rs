//! A socket between programs of one user: a file in a folder that no other user may enter. The system reports the user
//! of the program at the other end.

use std::{io, path::Path};

#[cfg(unix)]
#[path = "private_socket/unix.rs"]
mod system;
#[cfg(windows)]
#[path = "private_socket/windows.rs"]
mod system;

/// One end of a connection.
pub type Stream = system::Stream;

/// A listening socket.
#[derive(Debug)]
pub struct Listener(system::Listener);

impl Listener {
    /// Listens at `path`. Replaces a socket that an earlier process has left there. Must be called within a runtime.
    ///
    /// # Errors
    /// If the system does not support such sockets, the path is too long for one, or the folder cannot be written.
    pub fn bind(path: &Path) -> io::Result<Self> {
        system::bind(path).map(Self)
    }

    /// Accepts a connection from a program of this user or of root. Refuses all others. Cancel safe.
    ///
    /// # Errors
    /// If the accept fails.
    pub async fn accept(&self) -> io::Result<Stream> {
        system::accept(&self.0).await
    }
}

/// Returns whether a socket can be created at `path`: the system supports such sockets, and the path fits into a socket
/// address (107 bytes on Linux, 103 on macOS).
#[must_use]
pub fn can_stand_at(path: &Path) -> bool {
    system::can_stand_at(path)
}

/// Connects to the program that listens at `path`, if the program belongs to this user or to root.
///
/// # Errors
/// If no program listens there, or if it belongs to another user.
pub async fn connect(path: &Path) -> io::Result<Stream> {
    system::connect(path).await
}

/// Connects to the socket at `path` if the process `pid`, or a descendant of it, listens there as this user. A program that
/// may write to the folder can replace its socket with a link to another program's socket: nothing is sent to that program.
/// Descendants are recognized on Linux only.
///
/// # Errors
/// If no program listens there, or if a different one does.
pub async fn connect_to(path: &Path, pid: u32) -> io::Result<Stream> {
    system::connect_to(path, pid).await
}

#[cfg(all(test, unix))]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;
    use crate::process::{Program, TiedChild};

    #[tokio::test]
    async fn a_socket_takes_the_place_of_one_that_was_left() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("socket");
        drop(Listener::bind(&path).unwrap());
        assert!(connect(&path).await.is_err(), "nobody listens");
        let listener = Listener::bind(&path).unwrap();
        let (client, server) = tokio::join!(connect(&path), listener.accept());
        client.unwrap().write_all(b"hello").await.unwrap();
        let mut heard = [0; 5];
        server.unwrap().read_exact(&mut heard).await.unwrap();
        assert_eq!(&heard, b"hello");
    }

    #[tokio::test]
    async fn only_the_process_that_is_meant_is_connected_to_and_those_below_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("socket");
        let _listener = Listener::bind(&path).unwrap();
        let own = std::process::id();
        connect_to(&path, own).await.unwrap();
        #[cfg(target_os = "linux")]
        connect_to(&path, std::os::unix::process::parent_id()).await.unwrap();
        let program =
            Program { path: "sleep".into(), args: vec!["60".into()], env: vec![], log: None };
        let child = TiedChild::start(&program).unwrap();
        let refused = connect_to(&path, child.id()).await.unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
        let link = dir.path().join("engine.sock");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        connect(&link).await.unwrap();
        assert!(connect_to(&link, child.id()).await.is_err(), "a link leads to another program");
    }

    #[test]
    fn a_path_that_is_too_long_holds_no_socket() {
        assert!(can_stand_at(Path::new("/home/ada/.local/state/link/run/engine.sock")));
        assert!(!can_stand_at(Path::new(&format!("/{}", "x".repeat(110)))));
    }

    #[tokio::test]
    async fn a_path_that_is_too_long_is_refused_and_nothing_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a".repeat(120));
        crate::fs::write_atomic(&path, b"kept").unwrap();
        assert_eq!(Listener::bind(&path).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        assert!(path.exists());
    }
}
