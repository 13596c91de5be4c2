//! A classifier as a program: binds, loads, serves, and ends at the termination signal.
//!
//! The address is bound before the model is loaded, so that whoever asks for the health gets an answer. At the signal
//! the socket is removed at once, the inference in progress is finished, and the process ends within five seconds.
#![expect(clippy::disallowed_methods, reason = "IO shell: removes its socket")]
#![expect(clippy::disallowed_types, reason = "IO shell: reads the secret")]

use std::{
    fs::File,
    io::{Read as _, Write as _},
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context as _, bail};
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
};
use link_platform::{private_socket, signal::Termination};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpListener,
    sync::{OwnedSemaphorePermit, Semaphore, oneshot},
    time::timeout,
};

use crate::{
    arguments::Arguments,
    classifier::Classifier,
    limits::{CONNECTIONS, HEADER_DEADLINE, KEY_FILE_BYTES, SHUTDOWN_DEADLINE},
    routes::Service,
    secret::Secret,
    worker::{self, Ready, Source},
};

/// Runs a classifier until the termination signal. The command line is that of this process.
///
/// # Errors
/// If the command line names files that cannot be used, the address is taken, or the model cannot be loaded.
pub fn run<C: Classifier>() -> anyhow::Result<()> {
    let arguments = Arguments::of_this_process(C::PROGRAM, C::ABOUT, C::PATH);
    let secret = secret(&arguments.api_key_file)?;
    let service = Arc::new(Service::new(arguments.alias.clone(), secret, C::PATH));
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("failed to start the runtime")?
        .block_on(serve::<C>(arguments, service))
}

async fn serve<C: Classifier>(arguments: Arguments, service: Arc<Service>) -> anyhow::Result<()> {
    let mut termination = Termination::listen().context("failed to listen for signals")?;
    let listener = Listener::bind(&arguments).await?;
    let mut loading = worker::start::<C>(Source {
        model: arguments.model,
        alias: arguments.alias,
        runtime: arguments.runtime,
        threads: arguments.threads.into(),
    })?;
    let connections = Arc::new(Semaphore::new(CONNECTIONS));
    let graceful = GracefulShutdown::new();
    let mut is_loaded = false;
    loop {
        tokio::select! {
            () = termination.received() => break,
            loaded = &mut loading, if !is_loaded => {
                let ready = ready(loaded)?;
                is_loaded = true;
                log(&format!("ready: {} labels", ready.labels));
                // Set once: this arm does not run again.
                let _first = service.ready.set(ready);
            }
            accepted = listener.accept(&connections) => match accepted {
                Ok((Stream::Socket(stream), permit)) => connect(stream, permit, &service, &graceful),
                Ok((Stream::Port(stream), permit)) => connect(stream, permit, &service, &graceful),
                Err(fault) => {
                    log(&format!("failed to accept a connection: {fault}"));
                    // Descriptors may be exhausted: others come back when connections end.
                    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
                }
            },
        }
    }
    drop(listener);
    log("stopping");
    if timeout(SHUTDOWN_DEADLINE, graceful.shutdown()).await.is_err() {
        log("requests in progress did not end in time");
    }
    Ok(())
}

fn ready(
    loaded: Result<anyhow::Result<Ready>, oneshot::error::RecvError>,
) -> anyhow::Result<Ready> {
    match loaded {
        Ok(loaded) => loaded,
        Err(_ended) => bail!("the thread of the inferences has ended"),
    }
}

fn connect(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    permit: OwnedSemaphorePermit,
    service: &Arc<Service>,
    graceful: &GracefulShutdown,
) {
    let service = Arc::clone(service);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_DEADLINE)
        .serve_connection(
            TokioIo::new(stream),
            service_fn(move |request| Arc::clone(&service).answer(request)),
        );
    let connection = graceful.watch(connection);
    drop(tokio::spawn(async move {
        // A connection that breaks concerns its client only.
        let _broken = connection.await;
        drop(permit);
    }));
}

enum Listener {
    Socket { listener: private_socket::Listener, path: PathBuf },
    Port(TcpListener),
}

enum Stream {
    Socket(private_socket::Stream),
    Port(tokio::net::TcpStream),
}

impl Listener {
    async fn bind(arguments: &Arguments) -> anyhow::Result<Self> {
        match (&arguments.address.socket, arguments.address.host, arguments.port) {
            (Some(path), _, _) => {
                let listener = private_socket::Listener::bind(path)
                    .with_context(|| format!("failed to listen at `{}`", path.display()))?;
                log(&format!("listening at {}", path.display()));
                Ok(Self::Socket { listener, path: path.clone() })
            }
            (None, Some(host), Some(port)) => {
                let address = SocketAddr::new(host, port);
                let listener = TcpListener::bind(address)
                    .await
                    .with_context(|| format!("failed to listen at {address}"))?;
                let address = listener.local_addr().context("failed to read the address")?;
                log(&format!("listening at http://{address}"));
                Ok(Self::Port(listener))
            }
            (None, _, _) => bail!("no address: name --socket PATH, or --host and --port"),
        }
    }

    /// Accepts a connection once there is a seat for it. Cancel safe.
    async fn accept(
        &self,
        seats: &Arc<Semaphore>,
    ) -> std::io::Result<(Stream, OwnedSemaphorePermit)> {
        let seat = Arc::clone(seats).acquire_owned().await.map_err(std::io::Error::other)?;
        let stream = match self {
            Self::Socket { listener, .. } => Stream::Socket(listener.accept().await?),
            Self::Port(listener) => Stream::Port(listener.accept().await?.0),
        };
        Ok((stream, seat))
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        match self {
            // A socket that is gone already needs no removal.
            Self::Socket { path, .. } => drop(std::fs::remove_file(path)),
            Self::Port(_) => {}
        }
    }
}

fn secret(path: &Path) -> anyhow::Result<Secret> {
    let of_file = || format!("failed to read the secret from `{}`", path.display());
    let mut content = Vec::new();
    let file = File::open(path).with_context(of_file)?;
    file.take(KEY_FILE_BYTES).read_to_end(&mut content).with_context(of_file)?;
    Secret::parse(&content).with_context(of_file)
}

/// Writes a line for whoever started this program.
fn log(line: &str) {
    // A closed log stops no engine.
    let _closed = writeln!(std::io::stderr(), "{line}");
}
