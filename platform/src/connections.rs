//! Connections of a listener: accepts them in turn, and keeps their number within a bound.
//!
//! The agent's serving ports, its local API and the backend accept in the same way. Idle clients cannot fill the bound:
//! in the agent the connection that has been idle longest gives way ([`Seats`]). The backend decides by the caller
//! (`backend/src/domain/connections.rs`), and uses the accept loop and [`Held`] of this module.

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

/// A source of connections.
pub trait Listener: Send {
    /// The type of an accepted connection.
    type Accepted: Send;

    /// Waits for one connection. Cancel safe.
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

/// Returns the next connection of `listener`. Retries after a failure: passes the first failure to `say`, and accepts again
/// once a connection has been closed. Cancel safe.
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
