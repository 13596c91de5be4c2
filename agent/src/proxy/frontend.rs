//! One public port: its listener, its connections, and the routes behind it.

use std::sync::{Arc, PoisonError, RwLock};

use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use link_protocol::id::PipelineId;
use tokio::{net::TcpListener, runtime::Handle};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{
    forward::{self, Engine},
    route::Live,
};

/// Connections one port holds at a time; more wait in the system's queue.
const CONNECTIONS: usize = 4096;

/// An open port. Dropping it stops listening and lets requests in flight end.
#[derive(Debug)]
pub(super) struct Frontend {
    routes: Routes,
    _closing: DropGuard,
}

/// The routes of a port; a request works with the list that it found.
type Routes = Arc<RwLock<Arc<Vec<Live>>>>;

impl Frontend {
    /// Serves what `listener` accepts.
    pub(super) fn open(runtime: &Handle, listener: TcpListener, engine: Arc<Engine>) -> Self {
        let routes = Routes::default();
        let closing = CancellationToken::new();
        runtime.spawn(accept(listener, routes.clone(), engine, closing.clone()));
        Self { routes, _closing: closing.drop_guard() }
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
        read(&self.routes).iter().any(|live| live.route.pipeline_id == pipeline)
    }

    fn change<T>(&self, change: impl FnOnce(&mut Vec<Live>) -> T) -> T {
        let mut routes = self.routes.write().unwrap_or_else(PoisonError::into_inner);
        let mut changed = routes.as_ref().clone();
        let result = change(&mut changed);
        *routes = Arc::new(changed);
        result
    }
}

fn read(routes: &Routes) -> Arc<Vec<Live>> {
    routes.read().unwrap_or_else(PoisonError::into_inner).clone()
}

async fn accept(
    listener: TcpListener,
    routes: Routes,
    engine: Arc<Engine>,
    closing: CancellationToken,
) {
    let slots = Arc::new(tokio::sync::Semaphore::new(CONNECTIONS));
    loop {
        let Ok(slot) = slots.clone().acquire_owned().await else { return };
        let stream = tokio::select! {
            accepted = listener.accept() => accepted,
            () = closing.cancelled() => return,
        };
        let stream = match stream {
            Ok((stream, _peer)) => stream,
            Err(error) => {
                // Too many open files, most likely: what is open must end before more is taken.
                tracing::warn!("a connection could not be accepted: {error}");
                tokio::task::yield_now().await;
                continue;
            }
        };
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!("a connection stays slow: {error}");
        }
        let (routes, engine, closing) = (routes.clone(), engine.clone(), closing.clone());
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let (routes, engine) = (read(&routes), engine.clone());
                async move {
                    Ok::<_, std::convert::Infallible>(
                        forward::answer(&engine, &routes, request).await,
                    )
                }
            });
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(std::time::Duration::from_secs(30))
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
                tracing::debug!("a connection ended: {error}");
            }
            drop(slot);
        });
    }
}
