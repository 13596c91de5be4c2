//! The connections of the API, which speak HTTP/1.1.
//!
//! Most of them belong to devices that wait, so what a connection holds while it waits is what a
//! device costs. A server that knows HTTP/2 too takes the first bytes of each connection by
//! themselves, and the buffer that reads the rest is twice as large from then on.

use std::pin::pin;

use axum::{Router, extract::ConnectInfo, http::Request, serve::Listener};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{rt::TokioIo, server::graceful::GracefulShutdown};
use tokio::net::TcpListener;
use tower::Service as _;

/// Answers what comes to `listener` until `drained`, then ends with the last answer.
pub(crate) async fn serve(
    mut listener: TcpListener,
    router: Router,
    drained: impl Future<Output = ()>,
) {
    let connections = GracefulShutdown::new();
    let mut drained = pin!(drained);
    loop {
        let (stream, peer) = tokio::select! {
            accepted = Listener::accept(&mut listener) => accepted,
            () = &mut drained => break,
        };
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection keeps its delay");
        }
        let router = router.clone();
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(ConnectInfo(peer));
            router.clone().call(request)
        });
        let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
        let answered = connections.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = answered.await {
                tracing::debug!(%error, "a connection broke");
            }
        });
    }
    drop(listener);
    connections.shutdown().await;
}
