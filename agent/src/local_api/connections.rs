//! The connections of the local API: accepted, bounded and timed out.
//!
//! There are three sources of connections: any local user can connect to the port, programs of this
//! user can connect to the socket, and the agent itself connects for the guard's checks. Each
//! source has its own limit, so that clients of the port cannot block the others. A connection is
//! closed if its head, its body or its answer takes too long.

use std::{convert::Infallible, io, sync::Arc, time::Duration};

use axum::{Extension, Router, response::IntoResponse as _};
use hyper::{server::conn::http1, service::Service as _};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use link_platform::{
    connections::{self, Held, Listener, Seat, Seats},
    private_socket,
};
use link_protocol::problem::Code;
use tokio::{
    io::{AsyncRead, AsyncWrite, DuplexStream},
    net::{TcpListener, TcpStream},
    sync::mpsc,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{Refusal, access::Way};
use crate::until_closed::until_closed;

/// The connection limit of each source.
const CONNECTIONS: usize = 64;

/// The timeout for a request head, and for an idle connection between two requests.
const HEAD: Duration = Duration::from_secs(10);

/// The timeout for a body and its answer together; an event stream may run longer.
const REQUEST: Duration = Duration::from_secs(10);

/// The sources of connections.
pub(super) struct Doors {
    pub(super) port: TcpListener,
    /// Absent if the system or the length of the path does not allow a socket.
    pub(super) socket: Option<private_socket::Listener>,
    pub(super) own: mpsc::Receiver<DuplexStream>,
}

/// Serves the connections from `doors` until `closing`, then waits for pending answers.
pub(super) async fn serve(doors: Doors, router: Router, closing: CancellationToken) {
    let Doors { port, socket, own } = doors;
    let answered = TaskTracker::new();
    let side = |way| Side {
        router: router.clone().layer(Extension(way)),
        seats: Seats::new(CONNECTIONS),
        answered: answered.clone(),
        closing: closing.clone(),
    };
    let (strangers, guard) = (side(Way::Port), side(Way::Private));
    let programs = side(Way::Private);
    let programs = async move {
        if let Some(socket) = socket {
            programs.take_all(socket).await;
        }
    };
    tokio::join!(strangers.take_all(Port(port)), programs, guard.take_all(Own(own)));
    answered.close();
    answered.wait().await;
}

/// A listener that does not report the peer addresses of its connections.
struct Port(TcpListener);

impl Listener for Port {
    type Accepted = TcpStream;

    async fn accept(&mut self) -> io::Result<TcpStream> {
        let (stream, _peer) = Listener::accept(&mut self.0).await?;
        Ok(stream)
    }
}

/// The agent's own requests.
struct Own(mpsc::Receiver<DuplexStream>);

impl Listener for Own {
    type Accepted = DuplexStream;

    async fn accept(&mut self) -> io::Result<DuplexStream> {
        match self.0.recv().await {
            Some(stream) => Ok(stream),
            // Nobody can send further requests.
            None => std::future::pending().await,
        }
    }
}

/// One source of connections, with its own limit.
#[derive(Clone)]
struct Side {
    router: Router,
    seats: Seats,
    answered: TaskTracker,
    closing: CancellationToken,
}

impl Side {
    /// Accepts connections until the API closes.
    async fn take_all<L: Listener>(&self, mut listener: L)
    where
        L::Accepted: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let say = |error| tracing::warn!("the local API cannot accept a connection: {error}");
        loop {
            tokio::select! {
                stream = connections::next(&mut listener, say) => self.take(stream).await,
                () = self.closing.cancelled() => return,
            }
        }
    }

    /// Serves a connection once the limit allows it.
    async fn take<S>(&self, stream: S)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let seat = tokio::select! {
            seat = self.seats.take() => Arc::new(seat),
            () = self.closing.cancelled() => return,
        };
        let (router, closing) = (self.router.clone(), self.closing.clone());
        self.answered.spawn(async move {
            tokio::select! {
                () = answer(stream, router, &seat, closing) => {}
                () = seat.gives_way() => {}
            }
        });
    }
}

async fn answer<S>(stream: S, router: Router, seat: &Arc<Seat>, closing: CancellationToken)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = TowerToHyperService::new(router);
    let service = hyper::service::service_fn(|request| {
        let busy = seat.busy();
        let answer = service.call(request);
        async move {
            let response = match tokio::time::timeout(REQUEST, answer).await {
                Ok(answered) => answered?,
                Err(_) => Refusal::new(Code::AgentBusy, "the request timed out").into_response(),
            };
            Ok::<_, Infallible>(response.map(|body| Held::new(body, busy)))
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .serve_connection(TokioIo::new(stream), service);
    if let Err(error) = until_closed(connection, &closing).await {
        tracing::debug!("a connection of the local API ended: {error}");
    }
}
