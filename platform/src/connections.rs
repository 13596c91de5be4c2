//! Connections of a listener: accepted one after the other, held within a bound, and let go.
//!
//! The agent's serving ports and its local API, and the backend, accept in the same way. Nobody fills a
//! bound by waiting: in the agent the connection that has been idle longest gives way ([`Seats`]). The
//! backend knows who asks and decides by that (`backend/src/domain/connections.rs`); it has the
//! accepting and [`Held`] from here.

#![expect(clippy::disallowed_methods, reason = "IO shell: waits when descriptors run out")]

mod hangup;
mod held;
mod order;
mod seats;

use std::{io, net::SocketAddr, time::Duration};

use tokio::net::{TcpListener, TcpStream};

use crate::private_socket;

pub use self::{
    hangup::{Hangup, Socket, watched},
    held::Held,
    seats::{Busy, Seat, Seats},
};

/// How long to wait when no connection can be accepted.
const EXHAUSTED: Duration = Duration::from_millis(200);

/// Something that connections come from.
pub trait Listener: Send {
    /// What an accepted connection is.
    type Accepted: Send;

    /// Waits for one connection. May be cancelled.
    fn accept(&mut self) -> impl Future<Output = io::Result<Self::Accepted>> + Send;
}

impl Listener for TcpListener {
    type Accepted = (TcpStream, SocketAddr);

    async fn accept(&mut self) -> io::Result<(TcpStream, SocketAddr)> {
        let (stream, peer) = Self::accept(self).await?;
        // Who has left already has no options; the first read says so.
        let _left_already = stream.set_nodelay(true);
        Ok((stream, peer))
    }
}

impl Listener for private_socket::Listener {
    type Accepted = private_socket::Stream;

    async fn accept(&mut self) -> io::Result<private_socket::Stream> {
        Self::accept(self).await
    }
}

/// Returns the next connection of `listener`. A failure is not the end: `say` is told about the first
/// one, and accepting goes on once something has been closed. May be cancelled.
pub async fn next<L: Listener>(
    listener: &mut L,
    say: impl FnOnce(io::Error) + Send,
) -> L::Accepted {
    let mut say = Some(say);
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) => {
                // Too many open files, most likely: what is open must end before more is taken.
                if let Some(say) = say.take() {
                    say(error);
                }
                tokio::time::sleep(EXHAUSTED).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_failure_is_said_once_and_accepting_goes_on() {
        struct Exhausted(u32);
        impl Listener for Exhausted {
            type Accepted = &'static str;

            async fn accept(&mut self) -> io::Result<&'static str> {
                self.0 =
                    self.0.checked_sub(1).ok_or_else(|| io::Error::other("no failure is left"))?;
                if self.0 > 0 { Err(io::Error::other("too many open files")) } else { Ok("here") }
            }
        }
        let (sender, mut said) = tokio::sync::mpsc::unbounded_channel();
        let accepted =
            next(&mut Exhausted(3), |error| sender.send(error.to_string()).unwrap()).await;
        assert_eq!(accepted, "here");
        assert_eq!(said.try_recv().unwrap(), "too many open files");
        assert!(said.try_recv().is_err());
    }
}
