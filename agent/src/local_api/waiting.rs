//! The local API of a device that is not registered yet. Every request gets the answer that the
//! device is not registered.

use axum::{Router, middleware};
use link_platform::{fs, paths::Roots};
use link_protocol::problem::Code;
use tokio::{net::TcpListener, sync::mpsc};
use tokio_util::sync::CancellationToken;

use super::{
    Listening, OwnDoor, Refusal, WantedPort, check,
    connections::{self, Doors},
    listening,
};

/// Starts listening on the port and socket that the full API will use.
///
/// # Errors
/// If the port is not available.
pub(crate) async fn start(wanted: WantedPort, roots: &Roots) -> anyhow::Result<Listening> {
    fs::create_private_dir(&roots.run())?;
    let listener: TcpListener = wanted.bind().await?;
    let port = listener.local_addr()?.port();
    let (door, own) = mpsc::channel(1);
    let closing = CancellationToken::new();
    let router = Router::new()
        .fallback(async || Refusal::new(Code::NotRegistered, "no backend knows this device"))
        .layer(middleware::from_fn_with_state(port, check));
    let doors = Doors { port: listener, socket: listening::bind_socket(roots), own };
    let served = tokio::spawn(connections::serve(doors, router, closing.clone()));
    listening::write_down(roots, port);
    tracing::info!("local API on http://127.0.0.1:{port}, of a device that is not registered");
    let door = OwnDoor { port, door };
    Ok(Listening { door, roots: roots.clone(), closing: closing.drop_guard(), served })
}
