//! Sends requests to one server.
//!
//! [`Http::call`] returns the whole cause of a failure. [`Http::get`], [`Http::post`], [`Http::put`] and
//! [`Http::delete`] are the specification's simple form: a retryable failure is `None` or `false`, any other failure is
//! an [`HttpError`]. A redirect to another origin is never followed.

use std::{fmt, time::Duration};

use link_protocol::{limits, problem::Problem, secret::Secret};
use reqwest::{Method, Response, StatusCode, Url, header, redirect};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    retry::{self, Verdict},
    roots,
};

mod failure;

pub(crate) use failure::with_causes;
pub use failure::{Cause, Failure, HttpError};
use failure::{or_false, or_none};

/// The largest error body, in bytes.
const ERROR_BODY_LIMIT: usize = 64 * 1024;

/// The largest answer, in bytes. The longest list of an account is smaller.
const ANSWER_LIMIT: usize = 64 * 1024 * 1024;

/// A client of one server.
#[derive(Clone)]
pub struct Http {
    client: reqwest::Client,
    base: String,
    bearer: Option<Secret>,
}

/// The text is not a usable address of a server.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum InvalidAddress {
    /// The text is not an http or https address, or has more than a scheme, a host, a port and a
    /// path.
    #[error("`{0}` is not an address such as `https://link.example`")]
    NotHttp(String),
    /// The system's TLS roots could not be loaded.
    #[error("cannot set up TLS: {0}")]
    Tls(String),
}

/// One request.
#[derive(Debug)]
#[must_use]
pub struct Call {
    method: Method,
    path: String,
    body: Body,
    timeout: Option<Duration>,
    headers: Vec<(&'static str, String)>,
}

enum Body {
    Empty,
    Json(Result<Vec<u8>, String>),
    Stream(reqwest::Body),
}

impl Http {
    /// Prepares calls to the server at `base`. [`crate::install_crypto`] must have been called before.
    ///
    /// A server on the loopback interface is never reached through a proxy.
    ///
    /// # Errors
    /// [`InvalidAddress`] when `base` is not an http or https address.
    pub fn new(base: &str) -> Result<Self, InvalidAddress> {
        let url = parse_base(base)?;
        let builder = builder_for(&url).redirect(redirect::Policy::custom(follow_within_origin));
        let client = build(builder)?;
        Ok(Self { client, base: url.as_str().trim_end_matches('/').to_owned(), bearer: None })
    }

    /// Returns a client of the same server that sends `token` in the `Authorization` header of every call.
    #[must_use]
    pub fn with_bearer(&self, token: Secret) -> Self {
        Self { bearer: Some(token), ..self.clone() }
    }

    /// Returns the server's address without a trailing slash.
    #[must_use]
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Sends `call` and reads the answer as JSON.
    ///
    /// # Errors
    /// [`Failure`] with the whole cause.
    pub async fn call<T: DeserializeOwned>(&self, call: Call) -> Result<T, Failure> {
        self.call_tagged(call).await.map(|(answer, _)| answer)
    }

    /// Sends `call` and reads the answer as JSON. Also returns its entity tag, if it has one.
    ///
    /// # Errors
    /// [`Failure`] with the whole cause.
    pub async fn call_tagged<T: DeserializeOwned>(
        &self,
        call: Call,
    ) -> Result<(T, Option<String>), Failure> {
        let (url, patience) = (format!("{}{}", self.base, call.path), call.timeout);
        let mut response = self.exchange(call).await?;
        let unavailable = |cause| Failure::Unavailable { url: url.clone(), cause };
        let tag = response.headers().get(header::ETAG).and_then(|tag| tag.to_str().ok());
        let tag = tag.map(str::to_owned);
        let mut body = Vec::new();
        while let Some(chunk) = within(patience, response.chunk()).await.map_err(unavailable)? {
            if body.len() + chunk.len() > ANSWER_LIMIT {
                let why = format!("it is longer than {ANSWER_LIMIT} bytes");
                return Err(unavailable(Cause::Unreadable(why)));
            }
            body.extend_from_slice(&chunk);
        }
        let answer = serde_json::from_slice(&body)
            .map_err(|error| unavailable(Cause::Unreadable(error.to_string())))?;
        Ok((answer, tag))
    }

    /// Sends `call` and ignores the body of the answer.
    ///
    /// # Errors
    /// [`Failure`] with the whole cause.
    pub async fn call_for_status(&self, call: Call) -> Result<(), Failure> {
        self.exchange(call).await.map(drop)
    }

    /// Gets `path`. Returns `None` if the call failed and may be retried.
    ///
    /// # Errors
    /// [`HttpError`] if the server refused, so that a retry would get the same answer.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<Option<T>, HttpError> {
        or_none(self.call(Call::get(path)).await)
    }

    /// Posts `body` to `path`. Returns `false` if the call failed and may be retried.
    ///
    /// # Errors
    /// [`HttpError`] if the server refused, so that a retry would get the same answer.
    pub async fn post<B: Serialize + ?Sized>(
        &self,
        path: &str,
        body: &B,
    ) -> Result<bool, HttpError> {
        or_false(self.call_for_status(Call::post(path).json(body)).await)
    }

    /// Puts `body` to `path`. Returns `false` if the call failed and may be retried.
    ///
    /// # Errors
    /// [`HttpError`] if the server refused, so that a retry would get the same answer.
    pub async fn put<B: Serialize + ?Sized>(
        &self,
        path: &str,
        body: &B,
    ) -> Result<bool, HttpError> {
        or_false(self.call_for_status(Call::put(path).json(body)).await)
    }

    /// Deletes `path`. Returns `false` if the call failed and may be retried.
    ///
    /// # Errors
    /// [`HttpError`] if the server refused, so that a retry would get the same answer.
    pub async fn delete(&self, path: &str) -> Result<bool, HttpError> {
        or_false(self.call_for_status(Call::delete(path)).await)
    }

    /// Sends a request and returns its answer if the status is a success.
    pub(crate) async fn exchange(&self, call: Call) -> Result<Response, Failure> {
        let url = format!("{}{}", self.base, call.path);
        let patience = call.timeout;
        let unavailable = |cause| Failure::Unavailable { url: url.clone(), cause };
        let mut request = self.client.request(call.method, &url);
        if let Some(token) = &self.bearer {
            request = request.bearer_auth(token.expose());
        }
        for (name, value) in call.headers {
            request = request.header(name, value);
        }
        request = match call.body {
            Body::Empty => request,
            Body::Json(Ok(bytes)) => {
                request.header(header::CONTENT_TYPE, "application/json").body(bytes)
            }
            Body::Json(Err(error)) => return Err(unavailable(Cause::Unreadable(error))),
            Body::Stream(body) => {
                request.header(header::CONTENT_TYPE, "application/octet-stream").body(body)
            }
        };
        let response = within(patience, request.send()).await.map_err(unavailable)?;
        let status = response.status();
        match retry::judge(status.as_u16()) {
            Verdict::Success => Ok(response),
            Verdict::Retryable => {
                let retry_after = retry::asked_for(response.headers());
                let problem = read_problem(response, patience).await;
                Err(unavailable(Cause::Status { status: status.as_u16(), problem, retry_after }))
            }
            Verdict::Refused => Err(Failure::Refused(refusal(status, response, patience).await)),
        }
    }
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Http").field("base", &self.base).finish_non_exhaustive()
    }
}

impl Call {
    /// Starts a request with the usual timeout and no body.
    pub fn new(method: Method, path: impl Into<String>) -> Self {
        let timeout = Some(limits::HANDLER_TIMEOUT);
        Self { method, path: path.into(), body: Body::Empty, timeout, headers: Vec::new() }
    }

    /// Starts a `GET`.
    pub fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path)
    }

    /// Starts a `POST`.
    pub fn post(path: impl Into<String>) -> Self {
        Self::new(Method::POST, path)
    }

    /// Starts a `PUT`.
    pub fn put(path: impl Into<String>) -> Self {
        Self::new(Method::PUT, path)
    }

    /// Starts a `PATCH`.
    pub fn patch(path: impl Into<String>) -> Self {
        Self::new(Method::PATCH, path)
    }

    /// Starts a `DELETE`.
    pub fn delete(path: impl Into<String>) -> Self {
        Self::new(Method::DELETE, path)
    }

    /// Sends `body` as JSON.
    pub fn json<B: Serialize + ?Sized>(mut self, body: &B) -> Self {
        self.body = Body::Json(serde_json::to_vec(body).map_err(|error| error.to_string()));
        self
    }

    /// Sends `body`, which must be JSON.
    pub fn bytes(mut self, body: Vec<u8>) -> Self {
        self.body = Body::Json(Ok(body));
        self
    }

    /// Streams `body`, which has `length` bytes, without a timeout.
    pub fn stream(mut self, body: reqwest::Body, length: u64) -> Self {
        self.body = Body::Stream(body);
        self.timeout = None;
        self.header("content-length", length.to_string())
    }

    /// Sets the timeout for the start of the answer, and for each pause within it.
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Adds a header.
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "empty",
            Self::Json(_) => "json",
            Self::Stream(_) => "stream",
        })
    }
}

/// Creates a client for the server of `url`. A server on this machine is never reached through a proxy. TLS roots are
/// loaded only for https, so that a machine without TLS roots can still reach a server in its own network. Redirects
/// must keep the scheme.
pub(crate) fn builder_for(url: &Url) -> reqwest::ClientBuilder {
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("link/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(limits::CONNECT_TIMEOUT)
        .pool_idle_timeout(limits::CONNECTION_IDLE);
    if url.scheme() == "http" {
        builder = builder.tls_certs_only([]);
    } else if let Some(roots) = roots::trusted() {
        builder = builder.tls_certs_only(roots);
    }
    if is_loopback(url) {
        builder = builder.no_proxy();
    }
    builder
}

pub(crate) fn build(builder: reqwest::ClientBuilder) -> Result<reqwest::Client, InvalidAddress> {
    builder.build().map_err(|error| InvalidAddress::Tls(with_causes(&error)))
}

fn parse_base(base: &str) -> Result<Url, InvalidAddress> {
    let invalid = || InvalidAddress::NotHttp(base.chars().take(200).collect());
    let url = Url::parse(base).map_err(|_| invalid())?;
    let plain = matches!(url.scheme(), "http" | "https")
        && url.host_str().is_some()
        && url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    if plain { Ok(url) } else { Err(invalid()) }
}

pub(crate) fn is_loopback(url: &Url) -> bool {
    url.host_str().is_some_and(|host| {
        host == "localhost"
            || host
                .trim_matches(['[', ']'])
                .parse::<std::net::IpAddr>()
                .is_ok_and(|ip| ip.is_loopback())
    })
}

/// Follows a redirect only within the origin that may receive the token, and only if the method and body stay the same.
fn follow_within_origin(attempt: redirect::Attempt<'_>) -> redirect::Action {
    let keeps_method =
        matches!(attempt.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
    let same_origin =
        attempt.previous().last().is_some_and(|from| from.origin() == attempt.url().origin());
    if keeps_method && same_origin && attempt.previous().len() < 5 {
        attempt.follow()
    } else {
        attempt.stop()
    }
}

async fn refusal(status: StatusCode, response: Response, patience: Option<Duration>) -> HttpError {
    let usual = status.canonical_reason().unwrap_or("unknown status");
    let target = response.headers().get(header::LOCATION).and_then(|to| to.to_str().ok());
    let reason = match target {
        Some(target) if status.is_redirection() => format!("redirected to {target}"),
        Some(_) | None => usual.to_owned(),
    };
    let retry_after = retry::asked_for(response.headers());
    let problem = read_problem(response, patience).await;
    let reason = problem.as_ref().map_or(reason, |problem| problem.detail.clone());
    HttpError { status: status.as_u16(), reason, retryable: false, problem, retry_after }
}

/// Waits for one step of a call: the head of the answer, or the next part of its body.
async fn within<T>(
    patience: Option<Duration>,
    step: impl Future<Output = Result<T, reqwest::Error>>,
) -> Result<T, Cause> {
    let done = match patience {
        Some(patience) => tokio::time::timeout(patience, step).await.map_err(|_| Cause::Timeout)?,
        None => step.await,
    };
    done.map_err(|error| Cause::of(&error))
}

/// Reads the problem document of an error, if it has one.
async fn read_problem(mut response: Response, patience: Option<Duration>) -> Option<Box<Problem>> {
    let mut body = Vec::new();
    while let Ok(Some(chunk)) = within(patience, response.chunk()).await {
        body.extend_from_slice(&chunk);
        if body.len() > ERROR_BODY_LIMIT {
            return None;
        }
    }
    serde_json::from_slice(&body).ok()
}

#[cfg(test)]
mod tests;
