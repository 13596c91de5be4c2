//! One public port: its listener, its connections, and the routes behind it.

#![expect(clippy::disallowed_methods, reason = "IO shell: waits when descriptors run out")]

use std::{
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use link_platform::descriptors;
use link_protocol::id::PipelineId;
use tokio::{
    net::{TcpListener, TcpStream},
    runtime::Handle,
    sync::{OwnedSemaphorePermit, Semaphore},
    task::JoinHandle,
};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{
    forward::{self, Engine},
    route::Live,
};

/// Connections one port holds at a time; more wait in the system's queue. A request takes two
/// descriptors, and a process usually has 1024.
const CONNECTIONS: usize = 256;

/// How long to wait when no connection can be accepted.
const EXHAUSTED: Duration = Duration::from_millis(200);

/// An open port. Closing it stops listening and lets requests in flight end.
#[derive(Debug)]
pub(super) struct Frontend {
    routes: Routes,
    accepting: JoinHandle<()>,
    closing: DropGuard,
}

/// The routes of a port; a request works with the list that it found.
type Routes = Arc<RwLock<Arc<Vec<Live>>>>;

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
    let slots = Arc::new(Semaphore::new(CONNECTIONS));
    let mut exhausted = false;
    loop {
        let accepted = tokio::select! {
            accepted = next(&listener, &slots) => accepted,
            () = closing.cancelled() => return,
        };
        let (stream, slot) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Too many open files, most likely: what is open must end before more is taken.
                if !exhausted {
                    tracing::warn!("connections cannot be accepted: {error}");
                }
                exhausted = true;
                tokio::time::sleep(EXHAUSTED).await;
                continue;
            }
        };
        exhausted = false;
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
                .header_read_timeout(Duration::from_secs(30))
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

async fn next(
    listener: &TcpListener,
    slots: &Arc<Semaphore>,
) -> std::io::Result<(TcpStream, OwnedSemaphorePermit)> {
    let slot = slots.clone().acquire_owned().await.map_err(std::io::Error::other)?;
    let (stream, _peer) = listener.accept().await?;
    if descriptors::leave_room_for(&stream) {
        Ok((stream, slot))
    } else {
        Err(std::io::Error::other("the rest of the descriptors is for files"))
    }
}
