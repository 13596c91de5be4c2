//! What every answer has: a request id, security headers, and a body when it is a problem.

use axum::{
    body::Body,
    extract::Request,
    http::{HeaderMap, HeaderName, HeaderValue, header},
    middleware::Next,
    response::Response,
};
use link_protocol::problem;
use tracing::Instrument as _;

use crate::{api::problem::Rejection, chance};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Unless a page says otherwise, an answer may load nothing and be framed by nobody.
const POLICY: &str = "default-src 'none'; frame-ancestors 'none'";

/// Finishes the answer to `request`.
pub(crate) async fn finish(request: Request, next: Next) -> Response {
    let id = chance::uuid().simple().to_string();
    let span = tracing::info_span!(
        "request",
        id,
        method = %request.method(),
        path = request.uri().path(),
    );
    let mut response = next.run(request).instrument(span.clone()).await;
    if let Some(rejection) = response.extensions_mut().remove::<Rejection>() {
        write_problem(&mut response, rejection, &id);
    }
    let status = response.status().as_u16();
    span.in_scope(|| match status {
        400.. => tracing::info!(status, "refused"),
        _ => tracing::debug!(status, "answered"),
    });
    add_headers(response.headers_mut(), &id);
    response
}

fn write_problem(response: &mut Response, rejection: Rejection, id: &str) {
    let mut problem = *rejection.problem;
    problem.request_id = Some(id.to_owned());
    let body = serde_json::to_vec(&problem).unwrap_or_default();
    *response.body_mut() = Body::from(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(problem::CONTENT_TYPE));
    headers.remove(header::CONTENT_LENGTH);
}

fn add_headers(headers: &mut HeaderMap, id: &str) {
    if let Ok(id) = HeaderValue::from_str(id) {
        headers.insert(REQUEST_ID, id);
    }
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    for (name, value) in
        [(header::CONTENT_SECURITY_POLICY, POLICY), (header::CACHE_CONTROL, "no-store")]
    {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
}
