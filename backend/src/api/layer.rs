//! Completes every answer with a request id, security headers, and the body of a problem. Also counts requests, adds
//! the request's id to its log records, and answers for a handler that panics. All this is one layer, because each
//! layer costs memory in every parked poll.

#![expect(clippy::disallowed_methods, reason = "IO shell: measures how long an answer takes")]

use std::{panic::AssertUnwindSafe, sync::Arc, time::Instant};

use axum::{
    body::Body,
    extract::{MatchedPath, Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, header},
    middleware::Next,
    response::Response,
};
use futures_util::FutureExt as _;
use link_protocol::problem as document;
use tracing::Instrument as _;

use crate::{
    api::{
        cookie::Renewal,
        etag, peer,
        problem::{self, Rejection},
    },
    app::{App, Health},
    host::{metrics, random},
};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The default content security policy: an answer loads nothing, and no page may frame it.
const POLICY: &str = "default-src 'none'; frame-ancestors 'none'";

/// The headers of a request that decide who the caller is.
const VARY: &str = "authorization, cookie";

/// What the layer needs to know of the backend.
#[derive(Clone)]
pub(crate) struct Surroundings {
    health: Arc<Health>,
    is_behind_proxy: bool,
}

impl Surroundings {
    pub(crate) fn of(app: &App) -> Self {
        Self { health: app.health(), is_behind_proxy: app.is_behind_proxy() }
    }
}

/// Completes the answer to `request`.
pub(crate) async fn finish(
    State(Surroundings { health, is_behind_proxy }): State<Surroundings>,
    mut request: Request,
    next: Next,
) -> Response {
    let begun = Instant::now();
    let id = given_id(request.headers()).unwrap_or_else(|| random::uuid().simple().to_string());
    // At this level no log filter removes the id from a warning.
    let span = tracing::error_span!(
        "request",
        id,
        method = %request.method(),
        path = request.uri().path(),
    );
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let client = peer::address(request.extensions(), request.headers(), is_behind_proxy);
    let renewal = Renewal::of(request.headers());
    if let Some(renewal) = &renewal {
        request.extensions_mut().insert(renewal.clone());
    }
    let known = etag::asked(&method, route.as_ref().map(MatchedPath::as_str), request.headers());
    let answered = AssertUnwindSafe(next.run(request)).catch_unwind().instrument(span.clone());
    let mut response = answered.await.unwrap_or_else(problem::panicked);
    let mut code = None;
    if let Some(rejection) = response.extensions_mut().remove::<Rejection>() {
        code = Some(rejection.problem.code.clone());
        if let Some(fault) = rejection.fault {
            health.note(fault);
        }
        write_problem(&mut response, rejection, &id);
    }
    if let Some(known) = known {
        response = etag::tagged(response, &known);
    }
    let status = response.status().as_u16();
    span.in_scope(|| match status {
        400.. => {
            // A listener for IPv6 has IPv4 addresses in the form of IPv6, which a firewall does not know.
            let client = client.map(|address| tracing::field::display(address.to_canonical()));
            tracing::info!(status, code, client, "refused");
        }
        _ => tracing::debug!(status, "answered"),
    });
    let route = route.as_ref().map(MatchedPath::as_str);
    let taken = begun.elapsed();
    metrics::request(method.as_str(), route, status, taken);
    add_headers(response.headers_mut(), &id);
    if let Some(renewal) = renewal {
        renewal.complete(response.headers_mut(), taken);
    }
    response
}

/// Returns the request id that a proxy has set, if it is safe to log.
fn given_id(headers: &HeaderMap) -> Option<String> {
    let id = headers.get(REQUEST_ID)?.to_str().ok()?;
    let is_plain = |letter: u8| letter.is_ascii_alphanumeric() || b"-_.".contains(&letter);
    ((8..=64).contains(&id.len()) && id.bytes().all(is_plain)).then(|| id.to_owned())
}

fn write_problem(response: &mut Response, rejection: Rejection, id: &str) {
    let mut problem = *rejection.problem;
    problem.request_id = Some(id.to_owned());
    let body = serde_json::to_vec(&problem).unwrap_or_default();
    *response.body_mut() = Body::from(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(document::CONTENT_TYPE));
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
    if !headers.contains_key(header::CACHE_CONTROL) {
        // The answer is one person's. No cache keeps it, and one that does all the same has to tell persons apart.
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.append(header::VARY, HeaderValue::from_static(VARY));
    }
    let policy = HeaderValue::from_static(POLICY);
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(policy);
}

#[cfg(test)]
mod tests {
    use axum::{Router, body::to_bytes, middleware, routing::get};
    use tower::ServiceExt as _;

    use super::*;

    #[tokio::test]
    async fn a_handler_that_panics_is_answered_for() {
        let router = Router::new()
            .route("/", get(|| async { assert_eq!(1, 2, "on purpose") }))
            .layer(middleware::from_fn_with_state(
                Surroundings { health: Arc::default(), is_behind_proxy: false },
                finish,
            ));
        let response = router.oneshot(Request::new(Body::empty())).await.unwrap();
        assert_eq!(response.status(), 500);
        let id = response.headers()[&REQUEST_ID].to_str().unwrap().to_owned();
        let body = to_bytes(response.into_body(), 4096).await.unwrap();
        let problem: document::Problem = serde_json::from_slice(&body).unwrap();
        assert_eq!(problem.code, document::Code::Internal.as_str());
        assert_eq!(problem.request_id, Some(id));
    }
}
