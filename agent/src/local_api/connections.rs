//! The connections of the local API: taken, bounded and given up.
//!
//! Strangers come by the port, programs of this user by the socket, the guard's question from within.
//! Each side has places of its own, so that strangers fill none but theirs. Who does not finish a
//! head, a body or a wait for an answer in time is given up.

#![expect(clippy::disallowed_methods, reason = "IO shell: waits when descriptors run out")]

use std::{
    convert::Infallible,
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    Extension, Router,
    body::{Body, Bytes},
    response::IntoResponse as _,
};
use http_body::{Frame, SizeHint};
use hyper::{server::conn::http1, service::Service as _};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use link_platform::{descriptors, private_socket};
use link_protocol::problem::Code;
use tokio::{
    io::{AsyncRead, AsyncWrite, DuplexStream},
    net::{TcpListener, TcpStream},
    sync::mpsc,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    Refusal,
    access::Way,
    seats::{Busy, Seat, Seats},
};

/// Connections that each side holds at a time.
const CONNECTIONS: usize = 64;

/// How long a head may take, and how long a connection may say nothing between two requests.
const HEAD: Duration = Duration::from_secs(10);

/// How long a body and its answer may take together; a stream of events goes on after that.
const REQUEST: Duration = Duration::from_secs(10);

/// How long to wait when no connection can be taken.
const EXHAUSTED: Duration = Duration::from_millis(200);

/// Where connections come from.
pub(super) struct Doors {
    pub(super) port: TcpListener,
    /// Absent where the system or the path of the folder allows none.
    pub(super) socket: Option<private_socket::Listener>,
    pub(super) own: mpsc::Receiver<DuplexStream>,
}

/// Answers what comes through `doors` until `closing`, and then lets answers come to their end.
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
    tokio::join!(strangers.take_all(port), programs, guard.take_all(own));
    answered.close();
    answered.wait().await;
}

/// Something that connections come from.
trait Door: Send {
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    /// Waits for the next connection. May be cancelled.
    fn accept(&mut self) -> impl Future<Output = io::Result<Self::Stream>> + Send;
}

impl Door for TcpListener {
    type Stream = TcpStream;

    async fn accept(&mut self) -> io::Result<TcpStream> {
        let (stream, _peer) = Self::accept(self).await?;
        if !descriptors::leave_room_for(&stream) {
            return Err(io::Error::other("the rest of the descriptors is for files"));
        }
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}

impl Door for private_socket::Listener {
    type Stream = private_socket::Stream;

    async fn accept(&mut self) -> io::Result<private_socket::Stream> {
        Self::accept(self).await
    }
}

impl Door for mpsc::Receiver<DuplexStream> {
    type Stream = DuplexStream;

    async fn accept(&mut self) -> io::Result<DuplexStream> {
        match self.recv().await {
            Some(stream) => Ok(stream),
            // Nobody is left who could ask.
            None => std::future::pending().await,
        }
    }
}

/// Who comes in one way.
#[derive(Clone)]
struct Side {
    router: Router,
    seats: Seats,
    answered: TaskTracker,
    closing: CancellationToken,
}

impl Side {
    /// Takes connections until the API closes.
    async fn take_all(&self, mut door: impl Door) {
        let mut exhausted = false;
        loop {
            let accepted = tokio::select! {
                accepted = door.accept() => accepted,
                () = self.closing.cancelled() => return,
            };
            match accepted {
                Ok(stream) => {
                    exhausted = false;
                    self.take(stream).await;
                }
                Err(error) => {
                    if !exhausted {
                        tracing::warn!("the local API takes no connection: {error}");
                    }
                    exhausted = true;
                    tokio::time::sleep(EXHAUSTED).await;
                }
            }
        }
    }

    /// Answers on a connection, as soon as there is a place for it.
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
                Err(_) => {
                    Refusal::new(Code::AgentBusy, "the request took too long").into_response()
                }
            };
            Ok::<_, Infallible>(response.map(|body| Held { body, _busy: busy }))
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = closing.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!("a connection of the local API ended: {error}");
    }
}

/// A body that keeps the place of its connection until it has been passed on.
struct Held {
    body: Body,
    _busy: Busy,
}

impl http_body::Body for Held {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
