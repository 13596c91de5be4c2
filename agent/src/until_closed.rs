//! Serves a connection until it ends or the server shuts down.

use std::error::Error;

use hyper::{
    body::{Body, Incoming},
    rt::{Read, Write},
    server::conn::http1::Connection,
    service::HttpService,
};
use tokio_util::sync::CancellationToken;

/// Serves a connection until it ends. After `closing`, the current request is the last.
///
/// # Errors
/// If the connection breaks or the client sends invalid HTTP.
pub(crate) async fn until_closed<I, S, B>(
    connection: Connection<I, S>,
    closing: &CancellationToken,
) -> hyper::Result<()>
where
    I: Read + Write + Unpin,
    S: HttpService<Incoming, ResBody = B>,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    B: Body + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        ended = connection.as_mut() => ended,
        () = closing.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    }
}
