//! One public port: its listener and its route table.

use std::sync::Arc;

use link_platform::connections;
use link_protocol::id::PipelineId;
use tokio::{net::TcpListener, runtime::Handle, task::JoinHandle};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{connection, forward::Engine, route::Live, route_table::RouteTable};

/// An open port. Closing it stops listening; requests in flight continue.
#[derive(Debug)]
pub(super) struct Frontend {
    routes: RouteTable,
    accepting: JoinHandle<()>,
    closing: DropGuard,
}

impl Frontend {
    /// Serves the connections of `listener`.
    pub(super) fn open(runtime: &Handle, listener: TcpListener, engine: Arc<Engine>) -> Self {
        let routes = RouteTable::default();
        let closing = CancellationToken::new();
        let accepting = runtime.spawn(accept(listener, routes.clone(), engine, closing.clone()));
        Self { routes, accepting, closing: closing.drop_guard() }
    }

    /// Closes the port; it is free when this returns.
    pub(super) async fn close(self) {
        drop(self.closing);
        if self.accepting.await.is_err() {
            tracing::error!("a frontend panicked");
        }
    }

    /// Adds a route, or replaces the route of the same pipeline.
    pub(super) fn set(&self, live: Live) {
        self.routes.set(live);
    }

    /// Removes the route of a pipeline; returns true if none is left.
    pub(super) fn remove(&self, pipeline: PipelineId) -> bool {
        self.routes.remove(pipeline)
    }

    /// Returns whether a pipeline has a route on this port.
    pub(super) fn serves(&self, pipeline: PipelineId) -> bool {
        self.routes.serves(pipeline)
    }
}

async fn accept(
    mut listener: TcpListener,
    routes: RouteTable,
    engine: Arc<Engine>,
    closing: CancellationToken,
) {
    let say = |error| tracing::warn!("cannot accept a connection: {error}");
    loop {
        let next = async {
            let (stream, _peer) = connections::next(&mut listener, say).await;
            (stream, engine.seats().take().await)
        };
        let (stream, seat) = tokio::select! {
            next = next => next,
            () = closing.cancelled() => return,
        };
        let (routes, engine) = (routes.clone(), engine.clone());
        tokio::spawn(connection::serve(stream, seat, routes, engine, closing.clone()));
    }
}
