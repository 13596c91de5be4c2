//! The line to one engine: a pool of reusable connections, over a channel that no other user can
//! take over.
//!
//! No other user can listen on a socket in the agent's private folder, but the engine can replace its own socket with a
//! link to another program's socket. The agent is not contained as the engine is, so it must not reach other programs on
//! the engine's behalf. Any user can listen on a loopback port. So a connection is used only if the agent's child process
//! is at the other end: for a socket the system names the peer, and for a port the listener is checked before and after
//! connecting. Until then nothing is sent, in particular no secret.

#![expect(clippy::disallowed_methods, reason = "IO shell: connections, and the age of idle ones")]

use std::{
    io,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use http::{HeaderValue, Method, Request, Response, Uri, header};
use hyper::{
    body::Incoming,
    client::conn::http1::{self, SendRequest},
};
use hyper_util::rt::TokioIo;
use link_platform::private_socket;
use link_protocol::{limits, port::Port, secret::Secret};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};

use crate::serving::engine::{ownership::Ownership, upload::Upload};

/// How long a connection may be idle. Engines close idle connections after a few seconds, and a
/// request must not be sent on a connection that is being closed.
const IDLE: Duration = Duration::from_secs(2);

/// The maximum size of the pool; further connections are closed after one request.
const KEPT: usize = 512;

/// The address of an engine, and the secret that identifies its agent.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    pub(crate) channel: Channel,
    /// The path below which the engine answers; empty if it answers everywhere.
    pub(crate) base_path: String,
    pub(crate) secret: Secret,
    /// The id of the process that the agent started.
    pub(crate) pid: u32,
}

/// The listening address of an engine.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Channel {
    /// A UNIX socket in a folder that only this user can enter.
    Socket(PathBuf),
    /// A port of 127.0.0.1.
    Port(Port),
}

impl Channel {
    /// Returns the port, unless the engine listens on a socket.
    pub(super) const fn port(&self) -> Option<Port> {
        match self {
            Self::Socket(_) => None,
            Self::Port(port) => Some(*port),
        }
    }
}

/// An engine could not be reached.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LineError {
    #[error("the engine does not listen")]
    Connect(#[source] io::Error),
    #[error("another program has taken the engine's port {0}")]
    Stranger(Port),
    #[error("the program that listens on the engine's socket is not known to be the engine")]
    Impostor,
    #[error("connecting to the engine timed out")]
    ConnectTimeout,
    #[error("the engine closed the connection")]
    Broken(#[source] hyper::Error),
}

impl LineError {
    fn of_socket(error: io::Error) -> Self {
        let is_foreign = error.kind() == io::ErrorKind::PermissionDenied;
        if is_foreign { Self::Impostor } else { Self::Connect(error) }
    }
}

/// The connections to one engine. Clones share the pool.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    way: Arc<Way>,
    base_path: Arc<str>,
    secret: Secret,
    idle: Arc<Mutex<Vec<Idle>>>,
}

/// How the engine is reached.
#[derive(Debug)]
enum Way {
    Socket { path: PathBuf, pid: u32 },
    Port(Ownership),
}

/// A pooled connection. It may still be answering its last request; then it is not ready.
#[derive(Debug)]
struct Idle {
    connection: Connection,
    since: Instant,
}

type Connection = SendRequest<Upload>;

impl Line {
    /// Creates a line to the engine at `address`, without connecting yet.
    pub(crate) fn new(address: Address) -> Self {
        let Address { channel, base_path, secret, pid } = address;
        let way = match channel {
            Channel::Socket(path) => Way::Socket { path, pid },
            Channel::Port(port) => Way::Port(Ownership::new(port, pid)),
        };
        Self { way: Arc::new(way), base_path: base_path.into(), secret, idle: Arc::default() }
    }

    /// Sends a request whose target is a path, with the secret of the engine's launch.
    ///
    /// # Errors
    /// If the engine cannot be reached, another program uses its port, or the connection breaks
    /// before the head of the answer.
    pub(crate) async fn send(
        &self,
        mut request: Request<Upload>,
    ) -> Result<Response<Incoming>, LineError> {
        if let Some(secret) = bearer(self.secret.expose()) {
            request.headers_mut().insert(header::AUTHORIZATION, secret);
        }
        self.send_as_it_is(request).await
    }

    /// Returns the status of a GET of `path` with this `secret`, or without one.
    pub(crate) async fn status(&self, path: &str, secret: Option<&str>) -> Option<u16> {
        let mut request = Request::builder().method(Method::GET).uri(path);
        if let Some(secret) = secret.and_then(bearer) {
            request = request.header(header::AUTHORIZATION, secret);
        }
        let request = request.body(Upload::default()).ok()?;
        let response = self.send_as_it_is(request).await.ok()?;
        Some(response.status().as_u16())
    }

    /// Returns the secret of the engine's launch.
    pub(crate) fn secret(&self) -> &Secret {
        &self.secret
    }

    async fn send_as_it_is(
        &self,
        mut request: Request<Upload>,
    ) -> Result<Response<Incoming>, LineError> {
        request.headers_mut().insert(header::HOST, HeaderValue::from_static("localhost"));
        if let Some(below) = self.below_base(request.uri()) {
            *request.uri_mut() = below;
        }
        while let Some(mut connection) = self.take_idle() {
            match connection.try_send_request(request).await {
                Ok(response) => {
                    self.keep(connection);
                    return Ok(response);
                }
                Err(mut failed) => match failed.take_message() {
                    // Nothing was sent: the engine had already closed the connection.
                    Some(unsent) => request = unsent,
                    None => return Err(LineError::Broken(failed.into_error())),
                },
            }
        }
        let mut connection = self.connect().await?;
        let response = connection.send_request(request).await.map_err(LineError::Broken)?;
        self.keep(connection);
        Ok(response)
    }

    /// Returns `path` below the base path, if the engine has one.
    fn below_base(&self, path: &Uri) -> Option<Uri> {
        if self.base_path.is_empty() {
            return None;
        }
        format!("{}{path}", self.base_path).parse().ok()
    }

    async fn connect(&self) -> Result<Connection, LineError> {
        let connecting = async {
            match &*self.way {
                Way::Socket { path, pid } => {
                    let stream = private_socket::connect_to(path, *pid).await;
                    speak(stream.map_err(LineError::of_socket)?).await
                }
                Way::Port(child) => speak(connect_to_child(child).await?).await,
            }
        };
        tokio::time::timeout(limits::CONNECT_TIMEOUT, connecting)
            .await
            .map_err(|_| LineError::ConnectTimeout)?
    }

    fn take_idle(&self) -> Option<Connection> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|idle| !idle.connection.is_closed() && idle.since.elapsed() < IDLE);
        let ready = idle.iter().rposition(|idle| idle.connection.is_ready())?;
        Some(idle.swap_remove(ready).connection)
    }

    fn keep(&self, connection: Connection) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < KEPT {
            idle.push(Idle { connection, since: Instant::now() });
        }
    }
}

/// Connects to the port of the child process. The child must own the port before and after
/// connecting, through the same socket. Only then is the connection known to lead to the child.
async fn connect_to_child(child: &Ownership) -> Result<TcpStream, LineError> {
    let port = child.port();
    let before = child.listener().await.ok_or(LineError::Stranger(port))?;
    let stream = TcpStream::connect(("127.0.0.1", port.get())).await.map_err(LineError::Connect)?;
    stream.set_nodelay(true).map_err(LineError::Connect)?;
    if child.listener().await != Some(before) {
        return Err(LineError::Stranger(port));
    }
    Ok(stream)
}

async fn speak(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
) -> Result<Connection, LineError> {
    let (requests, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(LineError::Broken)?;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!("a connection to an engine ended: {error}");
        }
    });
    Ok(requests)
}

fn bearer(secret: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(&format!("Bearer {secret}")).ok()?;
    value.set_sensitive(true);
    Some(value)
}

#[cfg(test)]
mod tests {
    use link_platform::process::{Program, TiedChild};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn nothing_is_said_to_a_program_that_took_the_port_of_an_engine() {
        let stranger = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = Port::try_from(stranger.local_addr().unwrap().port()).unwrap();
        let heard = tokio::spawn(async move {
            let mut heard = Vec::new();
            while let Ok(Ok((mut stream, _))) =
                tokio::time::timeout(Duration::from_millis(300), stranger.accept()).await
            {
                stream.read_to_end(&mut heard).await.unwrap();
            }
            heard
        });
        // Process 1 stands in for the engine: it belongs to another user or does not listen at all.
        let line = Line::new(Address {
            channel: Channel::Port(port),
            base_path: String::new(),
            secret: Secret::new("the secret of the launch"),
            pid: 1,
        });
        let sent = line.send(Request::new(Upload::new("".into(), "a prompt".into()))).await;
        assert!(matches!(sent, Err(LineError::Stranger(found)) if found == port), "{sent:?}");
        assert_eq!(line.status("/props", Some("the secret of the launch")).await, None);
        assert_eq!(heard.await.unwrap(), b"");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn nothing_is_said_to_a_program_whose_socket_stands_in_the_place_of_the_engines() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("engine.sock");
        let listener = private_socket::Listener::bind(&path).unwrap();
        let heard = tokio::spawn(async move {
            let mut heard = Vec::new();
            listener.accept().await.unwrap().read_to_end(&mut heard).await.unwrap();
            heard
        });
        // The engine is another process: this one listens, as the agent does on its own socket.
        let program =
            Program { path: "sleep".into(), args: vec!["60".into()], env: vec![], log: None };
        let engine = TiedChild::start(&program).unwrap();
        let line = Line::new(Address {
            channel: Channel::Socket(path),
            base_path: String::new(),
            secret: Secret::new("the secret of the launch"),
            pid: engine.id(),
        });
        let sent = line.send(Request::new(Upload::new("".into(), "a prompt".into()))).await;
        assert!(matches!(sent, Err(LineError::Impostor)), "{sent:?}");
        assert_eq!(heard.await.unwrap(), b"");
    }

    impl Line {
        fn has_ready(&self) -> bool {
            self.idle.lock().unwrap().iter().any(|idle| idle.connection.is_ready())
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_connection_is_used_again_once_its_answer_is_read() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = Port::try_from(listener.local_addr().unwrap().port()).unwrap();
        let accepted = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let counter = accepted.clone();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                counter.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                tokio::spawn(async move {
                    let mut buffer = [0; 4096];
                    while stream.read(&mut buffer).await.is_ok_and(|read| read > 0) {
                        let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
                        stream.write_all(answer).await.unwrap();
                    }
                });
            }
        });
        let secret = Secret::new("secret");
        let address = Address {
            channel: Channel::Port(port),
            base_path: String::new(),
            secret,
            pid: std::process::id(),
        };
        let line = Line::new(address);
        for _ in 0..20 {
            let response = line.send(Request::new(Upload::default())).await.unwrap();
            let body = http_body_util::BodyExt::collect(response.into_body()).await.unwrap();
            assert_eq!(body.to_bytes(), "ok");
            // The connection's task makes it ready some time after the body was read.
            tokio::time::timeout(Duration::from_secs(10), async {
                while !line.has_ready() {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            })
            .await
            .unwrap();
        }
        assert_eq!(accepted.load(std::sync::atomic::Ordering::SeqCst), 1);
    }
}
