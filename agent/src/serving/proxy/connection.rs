//! One connection to a public port.
//!
//! Every connection takes a seat from a pool that all serving ports share. If no seat is free, an
//! idle connection is closed for a new client. Requests end when their client disconnects.

#![expect(clippy::disallowed_methods, reason = "IO shell: waits a moment for an answer")]

use std::{convert::Infallible, sync::Arc, time::Duration};

use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use link_platform::connections::{self, Held, Seat, Socket};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use super::{
    forward::{self, Engine},
    route_table::RouteTable,
};
use crate::until_closed::until_closed;

/// The timeout of a request head, and of an idle connection between two requests.
const HEAD: Duration = Duration::from_secs(10);

/// How long an answer may still take after its client has disconnected. This suffices for an answer
/// without an engine.
const HUNG_UP: Duration = Duration::from_secs(1);

/// The buffer for an answer that the client does not read, and the limit of a head, in bytes.
const BUFFER: usize = 64 * 1024;

/// Serves a connection until it ends or loses its seat. After `closing`, the connection accepts no
/// further request.
pub(super) async fn serve(
    stream: TcpStream,
    seat: Seat,
    routes: RouteTable,
    engine: Arc<Engine>,
    closing: CancellationToken,
) {
    let seat = Arc::new(seat);
    let (stream, hangup) = connections::watched(stream);
    let hung_up = async {
        hangup.seen().await;
        tokio::time::sleep(HUNG_UP).await;
    };
    tokio::select! {
        () = answer(stream, &seat, &routes, &engine, closing) => {}
        () = seat.gives_way() => {}
        () = hung_up => {}
    }
}

async fn answer(
    stream: Socket,
    seat: &Arc<Seat>,
    routes: &RouteTable,
    engine: &Engine,
    closing: CancellationToken,
) {
    let service = service_fn(|request| {
        let (busy, routes) = (seat.busy(), routes.read());
        async move {
            let response = forward::answer(engine, &routes, request, &busy).await;
            Ok::<_, Infallible>(response.map(|body| Held::new(body, busy)))
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(BUFFER)
        .serve_connection(TokioIo::new(stream), service);
    if let Err(error) = until_closed(connection, &closing).await {
        tracing::debug!("a connection ended: {error}");
    }
}

#[cfg(test)]
mod tests;
