//! The endpoint at which the built-in router listens for this process only. Devices connect through a gate, which
//! checks them first.

use std::{io, path::Path};

#[cfg(unix)]
#[path = "router_socket/unix.rs"]
mod system;
#[cfg(windows)]
#[path = "router_socket/windows.rs"]
mod system;

/// A connection to the router.
pub type Stream = system::Stream;

/// The router's endpoint. Dropping the value removes it.
#[derive(Debug)]
pub struct RouterSocket(system::RouterSocket);

impl RouterSocket {
    /// Creates an endpoint that no other program knows, in `folder` if possible.
    ///
    /// # Errors
    /// If no endpoint can be created.
    pub fn new(folder: &Path) -> io::Result<Self> {
        system::RouterSocket::new(folder).map(Self)
    }

    /// Returns the address of the endpoint, in the format of the router library.
    #[must_use]
    pub fn endpoint(&self) -> String {
        self.0.endpoint()
    }

    /// Connects to the router.
    ///
    /// # Errors
    /// If no router listens.
    pub async fn connect(&self) -> io::Result<Stream> {
        self.0.connect().await
    }
}
