//! Responses that the proxy creates itself.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full, combinators::BoxBody};
use link_agent_core::cors::Headers;
use link_protocol::problem::{self, Code, Problem};

/// The body type of every response.
pub(super) type Body = BoxBody<Bytes, hyper::Error>;

/// Creates a problem response with CORS headers, so that a page can read it. The end of the
/// exchange adds the document, because it contains the request id.
pub(super) fn problem(problem: Problem, cors: Headers) -> Response<Body> {
    let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = empty(status, cors);
    let kind = HeaderValue::from_static(problem::CONTENT_TYPE);
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    if matches!(problem.known_code(), Some(Code::EngineLoading | Code::AgentBusy)) {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("2"));
    }
    response.extensions_mut().insert(problem);
    response
}

/// Creates a JSON response.
pub(super) fn json<T: serde::Serialize>(value: &T, cors: Headers) -> Response<Body> {
    let text = serde_json::to_vec(value).unwrap_or_default();
    let mut response = Response::new(full(text.into()));
    add(response.headers_mut(), cors);
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// Creates a response without a body.
pub(super) fn empty(status: StatusCode, cors: Headers) -> Response<Body> {
    let mut response = Response::new(full(Bytes::new()));
    *response.status_mut() = status;
    add(response.headers_mut(), cors);
    response
}

/// Adds headers.
pub(super) fn add(headers: &mut HeaderMap, lines: Headers) {
    for (name, value) in lines {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
}

/// Creates a body from bytes.
pub(super) fn full(bytes: Bytes) -> Body {
    Full::new(bytes).map_err(|never| match never {}).boxed()
}
