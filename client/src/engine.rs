//! Requests to an engine on this machine, as the agent sends them: over a private socket or a loopback port, with the
//! secret of the launch.

use std::{io, path::PathBuf, time::Duration};

use http_body_util::{BodyExt as _, Full};
use hyper::{
    Request,
    body::Bytes,
    client::conn::http1::{self, SendRequest},
    header,
};
use hyper_util::rt::TokioIo;
use link_platform::private_socket;
use link_protocol::{plugin::Method, secret::Secret};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::TcpStream,
};

/// The longest answer that is read, in bytes.
const ANSWER_LIMIT: usize = 16 * 1024 * 1024;

/// Where an engine listens.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Place {
    Socket(PathBuf),
    /// A port of 127.0.0.1.
    Port(u16),
}

/// A request to an engine.
#[derive(Clone, Debug)]
pub struct Ask<'a> {
    pub method: Method,
    pub path: &'a str,
    pub secret: Option<&'a Secret>,
    pub content_type: &'a str,
    pub body: Vec<u8>,
}

impl<'a> Ask<'a> {
    /// Returns a GET of `path`.
    #[must_use]
    pub const fn get(path: &'a str, secret: Option<&'a Secret>) -> Self {
        Self { method: Method::Get, path, secret, content_type: "", body: Vec::new() }
    }
}

/// When a client leaves.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Leaving {
    AtOnce,
    DuringTheAnswer,
}

/// The whole answer of an engine.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Told {
    pub status: u16,
    pub content_type: String,
    pub body: Vec<u8>,
}

/// An engine gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum Silent {
    #[error("the engine does not listen")]
    Connect(#[source] io::Error),
    #[error("the engine closed the connection without an answer")]
    Broken(#[source] hyper::Error),
    #[error("the request cannot be sent")]
    Unsendable(#[source] hyper::http::Error),
    #[error("the engine did not answer within {} s", .0.as_secs())]
    Late(Duration),
    #[error("the answer is longer than {ANSWER_LIMIT} bytes")]
    TooLong,
}

/// Sends a request on a connection of its own, and reads the whole answer within `patience`.
///
/// # Errors
/// [`Silent`].
pub async fn ask(place: &Place, ask: Ask<'_>, patience: Duration) -> Result<Told, Silent> {
    let asked = async {
        let mut connection = connect(place).await?;
        let request = request(ask)?;
        let mut answer = connection.send_request(request).await.map_err(Silent::Broken)?;
        let status = answer.status().as_u16();
        let content_type = answer.headers().get(header::CONTENT_TYPE);
        let content_type = content_type.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let content_type = content_type.to_owned();
        let mut body = Vec::new();
        while let Some(frame) = answer.body_mut().frame().await {
            if let Ok(bytes) = frame.map_err(Silent::Broken)?.into_data() {
                body.extend_from_slice(&bytes);
            }
            if body.len() > ANSWER_LIMIT {
                return Err(Silent::TooLong);
            }
        }
        Ok(Told { status, content_type, body })
    };
    tokio::time::timeout(patience, asked).await.unwrap_or(Err(Silent::Late(patience)))
}

/// Sends a request, and closes the connection at once, or after the first byte of the answer.
///
/// # Errors
/// [`Silent`] if the engine cannot be reached.
pub async fn abandon(
    place: &Place,
    ask: Ask<'_>,
    leaving: Leaving,
    patience: Duration,
) -> Result<(), Silent> {
    let asked = async {
        let mut stream = open(place).await.map_err(Silent::Connect)?;
        let Ask { method, path, secret, content_type, body } = ask;
        let mut head = format!("{} {path} HTTP/1.1\r\nhost: localhost\r\n", method.as_str());
        if let Some(secret) = secret {
            head.push_str(&format!("authorization: Bearer {}\r\n", secret.expose()));
        }
        let length = body.len();
        head.push_str(&format!("content-type: {content_type}\r\ncontent-length: {length}\r\n\r\n"));
        let sent = [head.into_bytes(), body].concat();
        stream.write_all(&sent).await.map_err(Silent::Connect)?;
        match leaving {
            Leaving::AtOnce => {}
            Leaving::DuringTheAnswer => {
                // Whatever is read, or not, the connection is closed next.
                let _read = stream.read(&mut [0]).await;
            }
        }
        Ok(())
    };
    tokio::time::timeout(patience, asked).await.unwrap_or(Err(Silent::Late(patience)))
}

fn request(ask: Ask<'_>) -> Result<Request<Full<Bytes>>, Silent> {
    let Ask { method, path, secret, content_type, body } = ask;
    let mut request =
        Request::builder().method(method.as_str()).uri(path).header(header::HOST, "localhost");
    if let Some(secret) = secret {
        request = request.header(header::AUTHORIZATION, format!("Bearer {}", secret.expose()));
    }
    if !body.is_empty() {
        request = request.header(header::CONTENT_TYPE, content_type);
    }
    if method == Method::Post {
        // hyper announces no length of an empty body, and an engine would wait for bytes that never come.
        request = request.header(header::CONTENT_LENGTH, body.len());
    }
    request.body(Full::new(body.into())).map_err(Silent::Unsendable)
}

async fn connect(place: &Place) -> Result<SendRequest<Full<Bytes>>, Silent> {
    let stream = open(place).await.map_err(Silent::Connect)?;
    let shaken = http1::handshake(TokioIo::new(stream)).await;
    let (sender, connection) = shaken.map_err(Silent::Broken)?;
    // The task ends when the sender and the answer are dropped.
    drop(tokio::spawn(connection));
    Ok(sender)
}

async fn open(place: &Place) -> io::Result<Box<dyn Stream>> {
    Ok(match place {
        Place::Socket(path) => Box::new(private_socket::connect(path).await?),
        Place::Port(port) => Box::new(TcpStream::connect(("127.0.0.1", *port)).await?),
    })
}

/// A connection to an engine.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}
