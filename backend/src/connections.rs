//! The HTTP/1.1 connections of a listener.
//!
//! Most connections belong to devices that wait, so the memory of an idle connection is the cost of a device. HTTP/2 stays
//! off: a server that detects it reads the first bytes of a connection separately and then needs a buffer twice as large.
//!
//! No client can hold a connection without using it: the head of a request has a deadline, an answer must be read, and
//! when all places are taken, `domain::connections` decides which connection is closed.

mod paced;
pub mod seat;

use std::{
    convert::Infallible,
    net::{IpAddr, SocketAddr},
    pin::pin,
    sync::Arc,
};

use axum::{
    Router,
    body::Body,
    extract::ConnectInfo,
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, Request, StatusCode, Version, header};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
};
use link_platform::connections::{self, Held};
use link_protocol::limits;
use tokio::net::{TcpListener, TcpStream};
use tower::Service as _;

use crate::{
    connections::{
        paced::Paced,
        seat::{Asking, Room, Seat},
    },
    domain::{
        connections::{Bounds, Connections},
        network::Network,
    },
};

/// The rules by which a listener accepts connections.
#[derive(Clone, Copy, Debug)]
pub struct Door {
    pub bounds: Bounds,
    /// Reads the source address that a proxy in front has written, if there is a proxy.
    pub forwarded: Option<fn(&HeaderMap) -> Option<IpAddr>>,
}

/// Answers the requests to `listener` until `drained`, then returns after the last answer.
pub async fn serve(
    mut listener: TcpListener,
    router: Router,
    door: Door,
    drained: impl Future<Output = ()>,
) {
    let connections = GracefulShutdown::new();
    let room = Arc::new(Room::new(Connections::new(door.bounds)));
    let mut drained = pin!(drained);
    let say = |error| tracing::warn!(%error, "connections cannot be accepted");
    loop {
        room.settle().await;
        let (stream, peer) = tokio::select! {
            accepted = connections::next(&mut listener, say) => accepted,
            () = &mut drained => break,
        };
        let origin = door.origin(peer);
        room.admit(origin, |seat| {
            let connection = connection(stream, peer, router.clone(), door, seat);
            let answered = connections.watch(connection);
            tokio::spawn(async move {
                if let Err(error) = answered.await {
                    tracing::debug!(%error, "a connection broke");
                }
            })
        });
    }
    drop(listener);
    connections.shutdown().await;
}

impl Door {
    /// Returns the source of a connection, if it identifies the client. Loopback connections may come from proxies and
    /// tunnels, and behind a proxy all connections have the proxy's address.
    fn origin(&self, peer: SocketAddr) -> Option<Network> {
        let address = peer.ip().to_canonical();
        let says_who = self.forwarded.is_none() && !address.is_loopback();
        says_who.then(|| Network::host(address))
    }

    fn asker(&self, headers: &HeaderMap) -> Option<Network> {
        let forwarded = self.forwarded?;
        forwarded(headers).filter(|address| !address.is_loopback()).map(Network::host)
    }
}

/// Answers a request. One of HTTP/1.1 that does not name one host is malformed (RFC 9112, section 3.2): a proxy on the
/// way and the backend may read different hosts in it.
async fn answer(mut router: Router, request: Request<Incoming>) -> Result<Response, Infallible> {
    let hosts = request.headers().get_all(header::HOST).iter().count();
    if request.version() == Version::HTTP_11 && hosts != 1 {
        let why = "a request of HTTP/1.1 must have exactly one Host header\n";
        return Ok((StatusCode::BAD_REQUEST, why).into_response());
    }
    router.call(request).await
}

/// A connection that can be ended after its current answer.
fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    door: Door,
    seat: Seat,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = hyper::Error> {
    let service = service_fn(move |mut request: Request<Incoming>| {
        let asking = Asking::begin(&seat, door.asker(request.headers()));
        request.extensions_mut().insert(ConnectInfo(peer));
        request.extensions_mut().insert(seat.clone());
        let answer = answer(router.clone(), request);
        // The connection is idle once the body was sent or dropped.
        async move {
            let response = answer.await?;
            Ok::<_, Infallible>(response.map(|body| Body::new(Held::new(body, asking))))
        }
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits::REQUEST_HEAD_TIMEOUT)
        .serve_connection(TokioIo::new(Paced::new(stream)), service)
}
