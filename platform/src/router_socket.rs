//! Where the built-in router listens for the process that it is a part of, and for nobody else: what
//! comes from devices passes a gate first.

use std::{io, path::Path};

#[cfg(unix)]
#[path = "router_socket/unix.rs"]
mod system;
#[cfg(windows)]
#[path = "router_socket/windows.rs"]
mod system;

/// A connection to the router.
pub type Stream = system::Stream;

/// A place for a router to listen at; it is gone when this is dropped.
#[derive(Debug)]
pub struct RouterSocket(system::RouterSocket);

impl RouterSocket {
    /// Makes a place of which nobody knows, in `folder` where that can be.
    ///
    /// # Errors
    /// When no place can be made.
    pub fn new(folder: &Path) -> io::Result<Self> {
        system::RouterSocket::new(folder).map(Self)
    }

    /// Returns the endpoint that the router listens on.
    #[must_use]
    pub fn endpoint(&self) -> String {
        self.0.endpoint()
    }

    /// Connects to the router.
    ///
    /// # Errors
    /// When no router listens.
    pub async fn connect(&self) -> io::Result<Stream> {
        self.0.connect().await
    }
}
