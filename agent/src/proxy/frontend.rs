//! One public port: its listener, and the routes behind it.

use std::sync::{Arc, PoisonError};

use link_platform::connections;
use link_protocol::id::PipelineId;
use tokio::{net::TcpListener, runtime::Handle, task::JoinHandle};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{
    connection,
    forward::Engine,
    route::{self, Live, Routes},
};

/// An open port. Closing it stops listening and lets requests in flight end.
#[derive(Debug)]
pub(super) struct Frontend {
    routes: Routes,
    accepting: JoinHandle<()>,
    closing: DropGuard,
}

impl Frontend {
    /// Serves what `listener` accepts.
    pub(super) fn open(runtime: &Handle, listener: TcpListener, engine: Arc<Engine>) -> Self {
        let routes = Routes::default();
        let closing = CancellationToken::new();
        let accepting = runtime.spawn(accept(listener, routes.clone(), engine, closing.clone()));
        Self { routes, accepting, closing: closing.drop_guard() }
    }

    /// Closes the port; another may take it when this returns.
    pub(super) async fn close(self) {
        drop(self.closing);
        if self.accepting.await.is_err() {
            tracing::error!("a frontend ended badly");
        }
    }

    /// Adds a route, or replaces the one of the same pipeline.
    pub(super) fn set(&self, live: Live) {
        self.change(|routes| {
            let id = live.route.pipeline_id;
            match routes.iter_mut().find(|other| other.route.pipeline_id == id) {
                Some(other) => *other = live,
                None => routes.push(live),
            }
        });
    }

    /// Removes the route of a pipeline; true when none is left.
    pub(super) fn remove(&self, pipeline: PipelineId) -> bool {
        self.change(|routes| {
            routes.retain(|live| live.route.pipeline_id != pipeline);
            routes.is_empty()
        })
    }

    /// Tells whether a pipeline has a route here.
    pub(super) fn serves(&self, pipeline: PipelineId) -> bool {
        route::read(&self.routes).iter().any(|live| live.route.pipeline_id == pipeline)
    }

    fn change<T>(&self, change: impl FnOnce(&mut Vec<Live>) -> T) -> T {
        let mut routes = self.routes.write().unwrap_or_else(PoisonError::into_inner);
        let mut changed = routes.as_ref().clone();
        let result = change(&mut changed);
        *routes = Arc::new(changed);
        result
    }
}

async fn accept(
    mut listener: TcpListener,
    routes: Routes,
    engine: Arc<Engine>,
    closing: CancellationToken,
) {
    let say = |error| tracing::warn!("connections cannot be accepted: {error}");
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
