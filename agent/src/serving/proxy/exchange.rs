//! An exchange of a request and its answer. It has a request id shared by the client, the engine
//! and the agent's log, and a problem document in case of an error.
//!
//! The client's own id is kept if it is safe to log; otherwise the request gets a new one.

#![expect(clippy::disallowed_methods, reason = "IO shell: draws the id of a request")]

use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response};
use link_protocol::problem::Problem;

use super::{
    answer::{self, Body},
    openai,
};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The longest part of a path in the log, in characters.
const LOGGED_PATH: usize = 200;

/// A request in progress.
#[derive(Debug)]
pub(super) struct Exchange {
    id: String,
    method: Method,
    path: String,
}

impl Exchange {
    /// Starts an exchange, and adds the request id to the request for the engine.
    pub(super) fn begin<B>(request: &mut Request<B>) -> Self {
        let id = given_id(request.headers())
            .unwrap_or_else(|| uuid::Uuid::now_v7().simple().to_string());
        put_id(request.headers_mut(), &id);
        Self { id, method: request.method().clone(), path: request.uri().path().to_owned() }
    }

    /// Ends the exchange with `response`.
    pub(super) fn finish(self, mut response: Response<Body>) -> Response<Body> {
        if let Some(mut problem) = response.extensions_mut().remove::<Problem>() {
            problem.request_id = Some(self.id.clone());
            let text = serde_json::to_vec(&openai::document(&problem)).unwrap_or_default();
            *response.body_mut() = answer::full(text.into());
        }
        put_id(response.headers_mut(), &self.id);
        let Self { id, method, path } = self;
        let status = response.status();
        // Clients determine how often this is logged and how long the path is, so the level is
        // below the default.
        let path: String = path.chars().take(LOGGED_PATH).collect();
        tracing::debug!(request = id, %method, path, status = status.as_u16(), "answered");
        response
    }
}

/// Returns the id of a request to an engine.
pub(super) fn id_of(headers: &HeaderMap) -> String {
    headers.get(REQUEST_ID).and_then(|id| id.to_str().ok()).unwrap_or_default().to_owned()
}

/// Returns the id chosen by the client, if it is safe to log.
fn given_id(headers: &HeaderMap) -> Option<String> {
    let id = headers.get(REQUEST_ID)?.to_str().ok()?;
    let is_plain = |letter: u8| letter.is_ascii_alphanumeric() || b"-_.".contains(&letter);
    ((8..=64).contains(&id.len()) && id.bytes().all(is_plain)).then(|| id.to_owned())
}

fn put_id(headers: &mut HeaderMap, id: &str) {
    if let Ok(id) = HeaderValue::from_str(id) {
        headers.insert(REQUEST_ID, id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_cannot_stand_in_a_log_is_replaced() {
        let began = |id: &'static str| {
            let mut request = Request::builder().header(REQUEST_ID, id).body(()).unwrap();
            let exchange = Exchange::begin(&mut request);
            assert_eq!(request.headers()[REQUEST_ID], *exchange.id);
            exchange.id
        };
        assert_eq!(began("req-1234.a_b"), "req-1234.a_b");
        for bad in ["short", "with a space in it", "quote\"quote\"", &"x".repeat(65)] {
            let bad: &'static str = bad.to_owned().leak();
            let id = began(bad);
            assert!(id != bad && id.len() == 32, "{bad}: {id}");
        }
    }
}
