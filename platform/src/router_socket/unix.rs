//! A UNIX socket in a folder that only this user can enter.

#![expect(clippy::disallowed_methods, reason = "IO shell: where a socket can be")]

use std::{
    io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use tempfile::TempDir;
use tokio::net::UnixStream;

/// A connection to the router.
pub(super) type Stream = UnixStream;

/// The path of a socket must be shorter than this, in bytes.
const LONGEST: usize = 104;
const NAME: &str = "router";

#[derive(Debug)]
pub(super) struct RouterSocket {
    _folder: TempDir,
    path: PathBuf,
}

impl RouterSocket {
    pub(super) fn new(folder: &Path) -> io::Result<Self> {
        let made = private(folder)?;
        // A longer path does not fit into a socket address, and the router treats `?` and `#` as
        // the end of an address.
        if fits(&made.path().join(NAME)) {
            return Ok(Self { path: made.path().join(NAME), _folder: made });
        }
        let made = private(&std::env::temp_dir())?;
        Ok(Self { path: made.path().join(NAME), _folder: made })
    }

    pub(super) fn endpoint(&self) -> String {
        format!("unixsock-stream/{}", self.path.display())
    }

    pub(super) async fn connect(&self) -> io::Result<UnixStream> {
        UnixStream::connect(&self.path).await
    }
}

fn private(folder: &Path) -> io::Result<TempDir> {
    let mode = std::fs::Permissions::from_mode(0o700);
    tempfile::Builder::new().prefix(".socket-").permissions(mode).tempdir_in(folder)
}

fn fits(path: &Path) -> bool {
    let text = path.to_str().unwrap_or_default();
    path.is_absolute() && (1..LONGEST).contains(&text.len()) && !text.contains(['#', '?'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_user_reaches_it_and_a_long_path_is_no_hindrance() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("d".repeat(120));
        std::fs::create_dir(&deep).unwrap();
        let odd = folder.path().join("a#b");
        std::fs::create_dir(&odd).unwrap();
        for (base, within) in [(folder.path(), true), (&deep, false), (&odd, false)] {
            let socket = RouterSocket::new(base).unwrap();
            assert_eq!(socket.path.starts_with(base), within);
            assert!(fits(&socket.path), "{}", socket.path.display());
            let parent = socket.path.parent().unwrap();
            let mode = std::fs::metadata(parent).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700);
            let parent = parent.to_owned();
            drop(socket);
            assert!(!parent.exists());
        }
    }
}
