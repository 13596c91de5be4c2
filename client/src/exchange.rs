//! Requests and answers over one connection to a program on this machine.

use http_body_util::BodyExt as _;
use hyper::{
    Method, Request, Response, StatusCode,
    body::{Body as _, Bytes, Incoming},
    client::conn::http1::{self, SendRequest},
    header,
};
use hyper_util::rt::TokioIo;
use link_protocol::{
    local_api::{HEALTHZ_PATH, Healthz},
    problem::Problem,
    secret::Secret,
};
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::{
    http::{Cause, Failure, HttpError},
    retry::{self, Verdict},
};

/// The largest answer, in bytes.
const ANSWER_LIMIT: usize = 4 * 1024 * 1024;

/// Requests the state of the agent from the program at the other end of `stream`.
///
/// # Errors
/// [`Failure`] if the answer is not that of an agent.
pub async fn healthz_over<S>(stream: S) -> Result<Healthz, Failure>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let connection = Connection::over(stream, "the agent".to_owned()).await?;
    connection.ask(Method::GET, HEALTHZ_PATH, None).await?.json().await
}

/// A connection to a program of this machine.
pub(crate) struct Connection {
    sender: SendRequest<String>,
    /// The name of the peer in messages.
    name: String,
    token: Option<Secret>,
}

/// The answer to a request.
pub(crate) struct Answer {
    response: Response<Incoming>,
    name: String,
}

impl Connection {
    /// Starts HTTP over `stream`.
    pub(crate) async fn over<S>(stream: S, name: String) -> Result<Self, Failure>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let shaken = http1::handshake(TokioIo::new(stream)).await;
        let (sender, connection) = shaken.map_err(|error| broken(&name, &error))?;
        // The task ends when the sender and all answers are dropped.
        drop(tokio::spawn(connection));
        Ok(Self { sender, name, token: None })
    }

    /// Sends the token with every later request. The peer has proved that it is the agent.
    pub(crate) fn trust(&mut self, token: Secret) {
        self.token = Some(token);
    }

    /// Sends the last request of this connection.
    pub(crate) async fn ask(
        mut self,
        method: Method,
        path: &str,
        body: Option<String>,
    ) -> Result<Answer, Failure> {
        self.ask_more(method, path, body).await
    }

    /// Sends a request and keeps the connection open.
    pub(crate) async fn ask_more(
        &mut self,
        method: Method,
        path: &str,
        body: Option<String>,
    ) -> Result<Answer, Failure> {
        // For requests on its port, the agent compares this header with its own address.
        let host = self.name.strip_prefix("http://").unwrap_or("localhost");
        let mut request = Request::builder().method(method).uri(path).header(header::HOST, host);
        if let Some(token) = &self.token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {}", token.expose()));
        }
        if body.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        let unsendable = |error: hyper::http::Error| {
            unavailable(&self.name, Cause::Unreadable(error.to_string()))
        };
        let request = request.body(body.unwrap_or_default()).map_err(unsendable)?;
        let sent = async {
            self.sender.ready().await?;
            self.sender.send_request(request).await
        };
        let response = sent.await.map_err(|error| broken(&self.name, &error))?;
        Ok(Answer { response, name: self.name.clone() })
    }
}

impl Answer {
    /// Returns the answer if it is a success, without reading its body.
    pub(crate) async fn success(self) -> Result<Self, Failure> {
        let status = self.response.status();
        let verdict = retry::judge(status.as_u16());
        if verdict == Verdict::Success {
            return Ok(self);
        }
        let name = self.name.clone();
        let retry_after = retry::asked_for(self.response.headers());
        let problem = self.body().await.ok().and_then(|body| serde_json::from_slice(&body).ok());
        Err(failure(name, status, verdict, problem, retry_after))
    }

    /// Reads the body of a success as JSON.
    pub(crate) async fn json<T: DeserializeOwned>(self) -> Result<T, Failure> {
        let answer = self.success().await?;
        let name = answer.name.clone();
        let body = answer.body().await?;
        serde_json::from_slice(&body)
            .map_err(|error| unavailable(&name, Cause::Unreadable(error.to_string())))
    }

    /// Returns the next part of the body, or `None` at its end.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, Failure> {
        while let Some(frame) = self.response.body_mut().frame().await {
            let frame = frame.map_err(|error| broken(&self.name, &error))?;
            if let Ok(bytes) = frame.into_data() {
                return Ok(Some(bytes));
            }
        }
        Ok(None)
    }

    /// Returns the name of the peer in messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    async fn body(mut self) -> Result<Vec<u8>, Failure> {
        let mut body = Vec::new();
        while !self.response.body().is_end_stream()
            && let Some(bytes) = self.chunk().await?
        {
            body.extend_from_slice(&bytes);
            if body.len() > ANSWER_LIMIT {
                let why = "an answer without an end".to_owned();
                return Err(unavailable(&self.name, Cause::Unreadable(why)));
            }
        }
        Ok(body)
    }
}

fn failure(
    name: String,
    status: StatusCode,
    verdict: Verdict,
    problem: Option<Box<Problem>>,
    retry_after: Option<std::time::Duration>,
) -> Failure {
    if verdict == Verdict::Retryable {
        let cause = Cause::Status { status: status.as_u16(), problem, retry_after };
        return Failure::Unavailable { url: name, cause };
    }
    let usual = status.canonical_reason().unwrap_or("unknown status").to_owned();
    let reason = problem.as_ref().map_or(usual, |problem| problem.detail.clone());
    let status = status.as_u16();
    Failure::Refused(HttpError { status, reason, retryable: false, problem, retry_after })
}

fn broken(name: &str, error: &hyper::Error) -> Failure {
    unavailable(name, Cause::Broken(error.to_string()))
}

fn unavailable(name: &str, cause: Cause) -> Failure {
    Failure::Unavailable { url: name.to_owned(), cause }
}
