//! The connections of a listener: accepts them in turn, and limits their number.
//!
//! The serving ports of the agent, its local API and the backend share the accept loop of this module. Idle clients
//! cannot exhaust the limit: in the agent, the connection that has been idle longest is closed ([`Seats`]). The backend
//! has its own rule for this (`backend/src/domain/connections.rs`), and uses the accept loop and [`Held`] of this
//! module.

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

/// The delay before a retry after a failed accept.
const EXHAUSTED: Duration = Duration::from_millis(200);

/// A source of connections.
pub trait Listener: Send {
    /// The type of an accepted connection.
    type Accepted: Send;

    /// Accepts one connection. Cancel safe.
    fn accept(&mut self) -> impl Future<Output = io::Result<Self::Accepted>> + Send;
}

impl Listener for TcpListener {
    type Accepted = (TcpStream, SocketAddr);

    async fn accept(&mut self) -> io::Result<(TcpStream, SocketAddr)> {
        let (stream, peer) = Self::accept(self).await?;
        // This fails if the client has already closed the connection. The first read reports that.
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

/// Returns the next connection of `listener`. Retries after a failure, and passes only the first failure to `say`.
/// Cancel safe.
pub async fn next<L: Listener>(
    listener: &mut L,
    say: impl FnOnce(io::Error) + Send,
) -> L::Accepted {
    let mut say = Some(say);
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) => {
                // Most likely, too many files are open: connections must be closed before the next accept can succeed.
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
