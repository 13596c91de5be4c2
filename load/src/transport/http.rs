//! HTTP/1.1 over one plain connection for each link. Each connection uses little memory, because
//! one process has thousands. A second connection carries messages while a poll waits.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Method, Request, StatusCode, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use link_protocol::{
    agent_api::{self, Hello, Poll, Welcome},
    counter::Seq,
    envelope::Receipt,
    id::DeviceId,
    identity::Identity,
    limits,
    report::CommandReport,
    secret::Secret,
};
use serde::{Serialize, de::DeserializeOwned};
use tokio::{net::TcpStream, sync::Mutex, task::JoinHandle, time::timeout};

use crate::transport::{Answer, Link, Lost, Transport};

/// The size limit of an answer, in bytes.
const ANSWER_LIMIT: usize = 8 * 1024 * 1024;
/// The buffer of a connection, in bytes; grows for larger answers.
const BUFFER: usize = 8 * 1024;

/// The backend at one address.
#[derive(Clone, Debug)]
pub struct Http {
    authority: Arc<str>,
    path: Arc<str>,
}

/// The address cannot be used.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{0}` is not an address such as `http://127.0.0.1:8000`; simulated devices speak no TLS")]
pub struct InvalidAddress(String);

/// A connection to the backend.
#[derive(Debug)]
pub struct HttpLink {
    sender: Mutex<SendRequest<Full<Bytes>>>,
    connection: JoinHandle<()>,
    backend: Http,
    device: DeviceId,
    token: Secret,
}

impl Http {
    /// Prepares connections to the backend at `url`.
    ///
    /// # Errors
    /// [`InvalidAddress`] if `url` is not a plain http address.
    pub fn new(url: &str) -> Result<Self, InvalidAddress> {
        let invalid = || InvalidAddress(url.chars().take(200).collect());
        let uri: http::Uri = url.parse().map_err(|_| invalid())?;
        let authority = uri.authority().filter(|_| uri.scheme_str() == Some("http"));
        let authority = authority.ok_or_else(invalid)?;
        let authority = match authority.port() {
            Some(_) => authority.to_string(),
            None => format!("{authority}:80"),
        };
        Ok(Self { authority: authority.into(), path: uri.path().trim_end_matches('/').into() })
    }

    /// Opens a connection for the calls of `device`.
    ///
    /// # Errors
    /// [`Lost::Broken`] if the backend does not answer.
    pub async fn open(&self, device: DeviceId, token: Secret) -> Result<HttpLink, Lost> {
        let connecting = TcpStream::connect(&*self.authority);
        let stream = timeout(limits::CONNECT_TIMEOUT, connecting).await;
        let stream = stream.map_err(|_| broken("connecting timed out"))?.map_err(broken)?;
        stream.set_nodelay(true).map_err(broken)?;
        let (sender, connection) = http1::Builder::new()
            .max_buf_size(ANSWER_LIMIT.max(BUFFER))
            .handshake(TokioIo::new(stream))
            .await
            .map_err(broken)?;
        // The request in flight reports how the connection ends.
        let connection = tokio::spawn(async move { connection.await.unwrap_or(()) });
        let sender = Mutex::new(sender);
        Ok(HttpLink { sender, connection, backend: self.clone(), device, token })
    }
}

impl Transport for Http {
    type Link = HttpLink;

    async fn connect(&self, identity: &Identity) -> Result<HttpLink, Lost> {
        self.open(identity.device_id, identity.device_token.clone()).await
    }
}

impl HttpLink {
    /// Sends `body` and returns the status and the answer, which must begin within `patience`.
    ///
    /// # Errors
    /// [`Lost::Broken`] if the connection ends first.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
        patience: Duration,
    ) -> Result<(StatusCode, Bytes), Lost> {
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.backend.path))
            .header(header::HOST, &*self.backend.authority)
            .header(header::AUTHORIZATION, format!("Bearer {}", self.token.expose()));
        let request = if body.is_empty() {
            request
        } else {
            request.header(header::CONTENT_TYPE, "application/json")
        };
        let request = request.body(Full::new(body)).map_err(broken)?;
        match self.sender.try_lock() {
            Ok(mut sender) => exchange(&mut sender, request, patience).await,
            Err(_polling) => {
                let beside = self.backend.open(self.device, self.token.clone()).await?;
                exchange(&mut *beside.sender.lock().await, request, patience).await
            }
        }
    }

    pub(super) async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
        patience: Duration,
    ) -> Result<T, Lost> {
        let (status, body) = self.send(method, path, body, patience).await?;
        match status.as_u16() {
            200..=299 => serde_json::from_slice(&body).map_err(broken),
            refused @ (401 | 403 | 404) => Err(Lost::Refused(refused)),
            other => Err(Lost::Broken(format!("status {other}"))),
        }
    }

    async fn tell(&self, path: &str, body: Bytes) -> Result<Answer, Lost> {
        let (status, _) = self.send(Method::POST, path, body, limits::HANDLER_TIMEOUT).await?;
        match status.as_u16() {
            200..=299 => Ok(Answer::Taken),
            refused @ 400..=499 => Ok(Answer::Refused(refused)),
            other => Err(Lost::Broken(format!("status {other}"))),
        }
    }
}

impl Link for HttpLink {
    async fn hello(&self, hello: &Hello) -> Result<Welcome, Lost> {
        let path = agent_api::hello_path(self.device);
        self.call(Method::POST, &path, json(hello)?, limits::HANDLER_TIMEOUT).await
    }

    async fn poll(&self, after: Seq, wait: Duration) -> Result<Poll, Lost> {
        let path = agent_api::poll_path(self.device, after, wait.as_secs());
        self.call(Method::GET, &path, Bytes::new(), wait + limits::HANDLER_TIMEOUT).await
    }

    async fn receipt(&self, receipt: &Receipt) -> Result<Answer, Lost> {
        let path = agent_api::receipt_path(self.device, receipt.command_id);
        self.tell(&path, json(receipt)?).await
    }

    async fn result(&self, report: &CommandReport) -> Result<Answer, Lost> {
        let path = format!(
            "{}/agent/{}/commands/{}/status",
            agent_api::PREFIX,
            self.device,
            report.command_id
        );
        self.tell(&path, json(report)?).await
    }
}

impl Drop for HttpLink {
    fn drop(&mut self) {
        self.connection.abort();
    }
}

async fn exchange(
    sender: &mut SendRequest<Full<Bytes>>,
    request: Request<Full<Bytes>>,
    patience: Duration,
) -> Result<(StatusCode, Bytes), Lost> {
    let exchange = async {
        sender.ready().await.map_err(broken)?;
        let response = sender.send_request(request).await.map_err(broken)?;
        let status = response.status();
        let body = Limited::new(response.into_body(), ANSWER_LIMIT);
        let body = body.collect().await.map_err(broken)?.to_bytes();
        Ok((status, body))
    };
    timeout(patience, exchange).await.map_err(|_| broken("the request timed out"))?
}

/// Serializes a body as JSON.
///
/// # Errors
/// [`Lost::Broken`] if it cannot be serialized.
pub fn json<T: Serialize>(body: &T) -> Result<Bytes, Lost> {
    serde_json::to_vec(body).map(Bytes::from).map_err(broken)
}

pub(super) fn broken(cause: impl std::fmt::Display) -> Lost {
    Lost::Broken(cause.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_http_is_spoken() {
        for url in ["https://link.example", "link.example", "ftp://x", "http://"] {
            assert!(Http::new(url).is_err(), "{url}");
        }
        let http = Http::new("http://link.example/base/").unwrap();
        assert_eq!((&*http.authority, &*http.path), ("link.example:80", "/base"));
    }
}
