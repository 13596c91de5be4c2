//! One request: checked, sent to the engine, and its answer passed on.
//!
//! The order of the checks is the one a browser needs: Host, preflight, origin, path. Every answer
//! to an allowed page carries its origin, errors included, so that a page sees the true cause.

#![expect(clippy::disallowed_methods, reason = "IO shell: notes when a request came in")]

use std::{sync::Arc, time::Instant};

use http::{HeaderMap, Method, Request, Response, StatusCode, Uri, header};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use link_agent_core::{
    cors::{self, Headers, Preflight},
    host,
    usage::Framing,
};
use link_platform::{
    connections::{Busy, Held, Seats},
    descriptors,
};
use link_plugin_language_model::Manifest;
use link_protocol::problem::{Code, Problem};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{
    answer::{self, Body},
    bodies::Bodies,
    route::{self, Choice, Live},
    tee::{Meter, Tee},
};

/// Connections that are never taken by requests to engines, so that a preflight finds one.
const KEPT_FREE: usize = 64;

/// Headers that belong to one connection and are not passed on.
const HOP_BY_HOP: [header::HeaderName; 10] = [
    header::CONNECTION,
    header::HeaderName::from_static("keep-alive"),
    header::HeaderName::from_static("proxy-connection"),
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::HOST,
];

/// What all requests to engines share.
#[derive(Debug)]
pub(super) struct Engine {
    manifest: Manifest,
    bodies: Bodies,
    seats: Seats,
    /// Requests that may be with engines at a time.
    requests: Arc<Semaphore>,
}

impl Engine {
    pub(super) fn new(manifest: Manifest) -> Self {
        Self::for_connections(manifest, descriptors::served_connections())
    }

    pub(super) fn for_connections(manifest: Manifest, connections: usize) -> Self {
        let requests = connections - KEPT_FREE.min(connections / 2);
        Self {
            manifest,
            bodies: Bodies::new(),
            seats: Seats::new(connections),
            requests: Arc::new(Semaphore::new(requests)),
        }
    }

    /// The places for connections that all ports share.
    pub(super) const fn seats(&self) -> &Seats {
        &self.seats
    }

    /// Takes a place among the requests to engines; none when all are taken.
    fn begin(&self) -> Option<OwnedSemaphorePermit> {
        self.requests.clone().try_acquire_owned().ok()
    }
}

/// Answers one request with the routes that the port has at this moment.
pub(super) async fn answer(
    engine: &Engine,
    routes: &[Live],
    request: Request<Incoming>,
    busy: &Busy,
) -> Response<Body> {
    let started = Instant::now();
    if !has_our_host(&request) {
        return answer::problem(
            &Problem::new(Code::HostNotAllowed, "not a name of this device"),
            vec![],
        );
    }
    // One that is no text is on no allowlist.
    let origin = request
        .headers()
        .get(header::ORIGIN)
        .map(|origin| origin.to_str().unwrap_or_default().to_owned());
    if request.method() == Method::OPTIONS {
        return preflight(routes, &request);
    }
    let allowed = origin
        .as_deref()
        .filter(|origin| route::allowlists(routes).any(|list| list.allows(origin)));
    if origin.is_some() && allowed.is_none() {
        return forbidden();
    }
    let cors = || cors::response(allowed);
    match forward(engine, routes, request, busy, origin.as_deref(), started).await {
        Ok(mut response) => {
            answer::add(response.headers_mut(), cors());
            response
        }
        Err(problem) if problem.known_code() == Some(Code::OriginNotAllowed) => forbidden(),
        Err(problem) => answer::problem(&problem, cors()),
    }
}

fn preflight(routes: &[Live], request: &Request<Incoming>) -> Response<Body> {
    let headers = request.headers();
    let asked = Preflight {
        origin: text(headers, &header::ORIGIN),
        method: text(headers, &header::ACCESS_CONTROL_REQUEST_METHOD),
        headers: text(headers, &header::ACCESS_CONTROL_REQUEST_HEADERS),
        private_network: headers.contains_key("access-control-request-private-network"),
    };
    match cors::preflight(asked, route::allowlists(routes)) {
        Some(headers) => answer::empty(StatusCode::NO_CONTENT, headers),
        None => forbidden(),
    }
}

async fn forward(
    engine: &Engine,
    routes: &[Live],
    request: Request<Incoming>,
    busy: &Busy,
    origin: Option<&str>,
    started: Instant,
) -> Result<Response<Body>, Problem> {
    let path = request.uri().path().to_owned();
    let served = &engine.manifest.serve.paths;
    if request.method() == Method::GET && path == "/v1/models" {
        return Ok(models(routes, origin));
    }
    if !served.iter().any(|served| path.ends_with(served.as_str())) {
        return Err(Problem::new(Code::PathNotServed, "this path is not served"));
    }
    let (parts, body) = request.into_parts();
    let body = engine.bodies.read(body, busy).await?;
    let model = named_model(&body);
    let (live, path) = match route::choose(routes, served, &path, model.as_deref()) {
        Choice::Route { index, path } => (&routes[index], path),
        Choice::Unknown { model } => {
            return Err(not_served(routes, &format!("no model `{model}`")));
        }
        Choice::Unnamed => return Err(not_served(routes, "the request names no model")),
    };
    if origin.is_some_and(|origin| !live.route.allowlist.allows(origin)) {
        return Err(Problem::new(Code::OriginNotAllowed, ""));
    }
    if !served.iter().any(|served| served == path) {
        return Err(Problem::new(Code::PathNotServed, "this path is not served"));
    }
    let Some(line) = &live.engine else {
        let detail = format!("the engine of `{}` is being started", live.route.alias);
        return Err(Problem::new(Code::EngineLoading, detail));
    };
    let Some(place) = engine.begin() else {
        return Err(Problem::new(Code::AgentBusy, "too many requests are being answered"));
    };
    let mut outgoing = Request::new(Full::new(body));
    *outgoing.method_mut() = parts.method;
    *outgoing.uri_mut() = path.parse::<Uri>().map_err(|_| unavailable(live))?;
    *outgoing.headers_mut() = outgoing_headers(parts.headers);
    let response = line.send(outgoing).await.map_err(|error| {
        let error = anyhow::Error::new(error);
        tracing::warn!(model = %live.route.alias, "the engine did not answer: {error:#}");
        unavailable(live)
    })?;
    let metered = engine.manifest.serve.metered_paths.iter().any(|metered| metered == path);
    let response = pass_on(response, live, metered, started);
    Ok(response.map(|body| Held::new(body, place).boxed()))
}

/// Passes the engine's answer on, measured when it is an inference.
fn pass_on(
    response: Response<Incoming>,
    live: &Live,
    metered: bool,
    started: Instant,
) -> Response<Body> {
    let (mut parts, inner) = response.into_parts();
    let replaced: Vec<_> =
        parts.headers.keys().filter(|name| cors::is_replaced(name.as_str())).cloned().collect();
    for name in replaced {
        parts.headers.remove(name);
    }
    remove_hop_by_hop(&mut parts.headers);
    let meter = (metered && live.route.telemetry && parts.status.is_success()).then(|| {
        let kind = text(&parts.headers, &header::CONTENT_TYPE).unwrap_or_default();
        let framing =
            if kind.starts_with("text/event-stream") { Framing::Events } else { Framing::Whole };
        Meter::new(framing, live.route.model_id, live.usage.clone(), started)
    });
    Response::from_parts(parts, Tee { inner, meter }.boxed())
}

/// What goes to the engine: no secret and no origin of the client, and no encoding that would
/// hide the answer from the scanner.
fn outgoing_headers(mut headers: HeaderMap) -> HeaderMap {
    remove_hop_by_hop(&mut headers);
    for name in [
        header::ORIGIN,
        header::COOKIE,
        header::REFERER,
        header::ACCEPT_ENCODING,
        header::CONTENT_LENGTH,
    ] {
        headers.remove(name);
    }
    headers
}

/// Removes what belongs to one connection, and what `Connection` says does (RFC 9110, 7.6.1).
fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<String> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|names| names.to_str().ok())
        .flat_map(|names| names.split(','))
        .map(|name| name.trim().to_owned())
        .collect();
    for name in named {
        headers.remove(name);
    }
    for name in &HOP_BY_HOP {
        headers.remove(name);
    }
}

fn named_model(body: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        model: Option<String>,
    }
    serde_json::from_slice::<Named>(body).ok()?.model
}

/// The models that a page of `origin` may call; all of them for a client that is no page.
fn models(routes: &[Live], origin: Option<&str>) -> Response<Body> {
    let routes = routes
        .iter()
        .filter(|live| origin.is_none_or(|origin| live.route.allowlist.allows(origin)));
    let entry =
        |live: &Live| json!({"id": live.route.alias, "object": "model", "owned_by": "link"});
    let data: Vec<_> = routes.map(entry).collect();
    answer::json(&json!({"object": "list", "data": data}), vec![])
}

fn forbidden() -> Response<Body> {
    let detail = "the origin of this page is not on the allowlist of this model";
    let headers: Headers = cors::response(None);
    answer::problem(&Problem::new(Code::OriginNotAllowed, detail), headers)
}

fn not_served(routes: &[Live], what: &str) -> Problem {
    let served = route::aliases(routes).join(", ");
    Problem::new(Code::ModelNotServed, format!("{what}; served here: {served}"))
}

fn unavailable(live: &Live) -> Problem {
    Problem::new(
        Code::EngineUnavailable,
        format!("the engine of `{}` does not answer", live.route.alias),
    )
}

fn has_our_host(request: &Request<Incoming>) -> bool {
    let host = text(request.headers(), &header::HOST).or_else(|| request.uri().host());
    host.is_some_and(host::is_ours)
}

fn text<'a>(headers: &'a HeaderMap, name: &header::HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
