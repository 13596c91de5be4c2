//! A port of the loopback address. Other programs of the machine can connect to it too, but need the password of a
//! device for anything else.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    path::Path,
};

use tokio::net::TcpStream;

/// A connection to the router.
pub(super) type Stream = TcpStream;

#[derive(Debug)]
pub(super) struct RouterSocket(SocketAddr);

impl RouterSocket {
    pub(super) fn new(_folder: &Path) -> io::Result<Self> {
        let free = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        free.local_addr().map(Self)
    }

    pub(super) fn endpoint(&self) -> String {
        format!("tcp/{}", self.0)
    }

    pub(super) async fn connect(&self) -> io::Result<TcpStream> {
        let stream = TcpStream::connect(self.0).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}
