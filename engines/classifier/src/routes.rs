//! Which request is answered how: what every listener decides before and after an inference.

use std::{
    convert::Infallible,
    sync::{Arc, OnceLock},
};

use bytes::{Bytes, BytesMut};
use http::{
    HeaderValue, Method, Request, Response, StatusCode,
    header::{
        ALLOW, AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER,
        TRANSFER_ENCODING, WWW_AUTHENTICATE,
    },
};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use serde_json::json;
use tokio::{
    sync::{Semaphore, mpsc, oneshot},
    time::timeout,
};

use crate::{
    limits::{BODY_BYTES, BODY_DEADLINE, INFERENCE_DEADLINE, WAITING_BODY_BYTES},
    network::Cancel,
    refusal::Refusal,
    secret::Secret,
    upload,
    worker::{Job, Ready},
};

/// The state that all requests share.
pub(crate) struct Service {
    pub(crate) alias: String,
    pub(crate) secret: Secret,
    /// The path that classifies.
    pub(crate) path: &'static str,
    /// Set once the model is loaded.
    pub(crate) ready: OnceLock<Ready>,
    /// Room for the bodies of requests that wait, in KiB.
    pub(crate) room: Arc<Semaphore>,
}

const KIB: usize = 1024;

impl Service {
    pub(crate) fn new(alias: String, secret: Secret, path: &'static str) -> Self {
        let room = Arc::new(Semaphore::new(WAITING_BODY_BYTES / KIB));
        Self { alias, secret, path, ready: OnceLock::new(), room }
    }

    /// Answers a request.
    ///
    /// # Errors
    /// Never: a failure is an answer too.
    pub(crate) async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> Result<Response<Full<Bytes>>, Infallible> {
        Ok(self.route(request).await.unwrap_or_else(|refusal| refused(&refusal)))
    }

    async fn route(&self, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Refusal> {
        let path = request.uri().path();
        if path == "/health" {
            return only(&Method::GET, "GET", &request).map(|()| self.health());
        }
        if path != "/props" && !path.starts_with("/v1/") {
            return Err(not_found());
        }
        if !self.secret.opens(request.headers().get(AUTHORIZATION)) {
            let message =
                "The secret is missing or wrong. Send it as `Authorization: Bearer SECRET`.";
            return Err(Refusal::new(StatusCode::UNAUTHORIZED, "invalid_api_key", message));
        }
        if path == "/props" {
            only(&Method::GET, "GET", &request)?;
            return self.props();
        }
        if path != self.path {
            return Err(not_found());
        }
        only(&Method::POST, "POST", &request)?;
        self.classify(request).await
    }

    fn health(&self) -> Response<Full<Bytes>> {
        if self.ready.get().is_some() {
            return json_answer(StatusCode::OK, json!({"status": "ok"}).to_string());
        }
        json_answer(StatusCode::SERVICE_UNAVAILABLE, json!({"status": "loading"}).to_string())
    }

    fn props(&self) -> Result<Response<Full<Bytes>>, Refusal> {
        let ready = self.ready.get().ok_or_else(loading)?;
        let build = env!("CARGO_PKG_VERSION");
        let props = json!({"alias": self.alias, "labels": ready.labels, "build": build});
        Ok(json_answer(StatusCode::OK, props.to_string()))
    }

    async fn classify(&self, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Refusal> {
        let ready = self.ready.get().ok_or_else(loading)?;
        let (head, body) = request.into_parts();
        let expected = expected_bytes(&head)?;
        let permits = u32::try_from(expected.div_ceil(KIB)).unwrap_or(u32::MAX);
        // Held until the answer: a body takes memory for as long as it waits.
        let _room = self.room.try_acquire_many(permits).map_err(|_| queue_full())?;
        let body = timeout(BODY_DEADLINE, receive(body)).await.map_err(|_| {
            let message = "The body did not arrive within a minute. Send it again.";
            Refusal::new(StatusCode::REQUEST_TIMEOUT, "body_timeout", message)
        })??;
        let content_type = head.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let upload = upload::read(content_type, head.uri.query(), body).await?;

        let cancel = Cancel::new();
        // A client that leaves drops this future, and with it the guard.
        let guard = AbortOnDrop(cancel.clone());
        let (started, start) = oneshot::channel();
        let (reply, answer) = oneshot::channel();
        let job = Job { upload, cancel, started, reply };
        ready.jobs.try_send(job).map_err(|fault| match fault {
            mpsc::error::TrySendError::Full(_) => queue_full(),
            mpsc::error::TrySendError::Closed(_) => stopped(),
        })?;
        start.await.map_err(|_| stopped())?;
        let answer = timeout(INFERENCE_DEADLINE, answer).await;
        drop(guard);
        let body = answer.map_err(|_| Refusal::timed_out())?.map_err(|_| stopped())??;
        Ok(json_answer(StatusCode::OK, body))
    }
}

/// Aborts an inference that nobody waits for.
struct AbortOnDrop(Cancel);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Returns how many bytes the body may have, before any is read.
fn expected_bytes(head: &http::request::Parts) -> Result<usize, Refusal> {
    let Some(length) = head.headers.get(CONTENT_LENGTH) else {
        if head.headers.contains_key(TRANSFER_ENCODING) {
            return Ok(BODY_BYTES);
        }
        let message = "The request has no body. Send one with Content-Length.";
        return Err(Refusal::new(StatusCode::LENGTH_REQUIRED, "length_required", message));
    };
    let length = length.to_str().ok().and_then(|length| length.parse::<u64>().ok());
    let length = length.and_then(|length| usize::try_from(length).ok());
    length.filter(|length| *length <= BODY_BYTES).ok_or_else(body_too_large)
}

async fn receive(mut body: Incoming) -> Result<Bytes, Refusal> {
    let mut received = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| {
            Refusal::bad_request("truncated_body", "The body was cut off. Send it again.")
        })?;
        let Ok(data) = frame.into_data() else { continue };
        if received.len() + data.len() > BODY_BYTES {
            return Err(body_too_large());
        }
        received.extend_from_slice(&data);
    }
    Ok(received.freeze())
}

fn only(method: &Method, name: &'static str, request: &Request<Incoming>) -> Result<(), Refusal> {
    if request.method() == method {
        return Ok(());
    }
    let message = format!("This path has only the method {name}.");
    let refusal = Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message);
    Err(Refusal { allow: Some(name), ..refusal })
}

fn not_found() -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, "not_found", "There is no such path.")
}

fn loading() -> Refusal {
    Refusal::busy("loading", "The model is being loaded. Retry in a second.")
}

fn queue_full() -> Refusal {
    Refusal::busy("queue_full", "Too many requests wait for this model. Retry in a second.")
}

fn stopped() -> Refusal {
    Refusal::busy("stopping", "The engine is stopping. Retry in a second.")
}

fn body_too_large() -> Refusal {
    let limit = BODY_BYTES / KIB / KIB;
    let message = format!("The body is larger than {limit} MiB. Send a smaller file.");
    Refusal::too_large("body_too_large", message)
}

fn refused(refusal: &Refusal) -> Response<Full<Bytes>> {
    let mut answer = json_answer(refusal.status, refusal.document().to_string());
    let headers = answer.headers_mut();
    if refusal.status == StatusCode::SERVICE_UNAVAILABLE {
        headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    if refusal.status == StatusCode::UNAUTHORIZED {
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    if let Some(allow) = refusal.allow {
        headers.insert(ALLOW, HeaderValue::from_static(allow));
    }
    let unread =
        [StatusCode::PAYLOAD_TOO_LARGE, StatusCode::REQUEST_TIMEOUT, StatusCode::UNAUTHORIZED];
    if unread.contains(&refusal.status) {
        // The rest of the body is not waited for.
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    answer
}

fn json_answer(status: StatusCode, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut answer = Response::new(Full::new(body.into()));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}
