//! One request: checked, sent to the engine, and its answer passed on.
//!
//! The checks run in the order that a browser needs: Host, preflight, origin, path. Every answer to
//! an allowed page, errors included, carries its origin, so that the page can read the real cause.

#![expect(clippy::disallowed_methods, reason = "IO shell: notes when a request came in")]

use std::{sync::Arc, time::Instant};

use http::{HeaderMap, Method, Request, Response, Uri, Version, header};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use link_agent_core::{
    cors,
    host::{self, Misdirected},
    usage::Framing,
};
use link_platform::{
    connections::{Busy, Held, Seats},
    descriptors,
};
use link_plugin_language_model::Manifest;
use link_protocol::problem::{Code, Problem};
use serde::Deserialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{
    answer::{self, Body},
    bodies::Bodies,
    exchange::{self, Exchange},
    models, preflight,
    route::{self, Choice, Live},
    tee::{Meter, Tee},
};

/// Connections that engine requests leave free, so that a preflight always finds one.
const KEPT_FREE: usize = 64;

/// Headers of a single connection, which are not forwarded.
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
    /// Limits the concurrent requests to engines.
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

    /// The connection seats that all ports share.
    pub(super) const fn seats(&self) -> &Seats {
        &self.seats
    }

    /// Reserves a place for a request to an engine; returns none if all are taken.
    fn begin(&self) -> Option<OwnedSemaphorePermit> {
        self.requests.clone().try_acquire_owned().ok()
    }
}

/// Answers one request with the port's current routes.
pub(super) async fn answer(
    engine: &Engine,
    routes: &[Live],
    mut request: Request<Incoming>,
    busy: &Busy,
) -> Response<Body> {
    let exchange = Exchange::begin(&mut request);
    let response = checked(engine, routes, request, busy).await;
    exchange.finish(response)
}

async fn checked(
    engine: &Engine,
    routes: &[Live],
    request: Request<Incoming>,
    busy: &Busy,
) -> Response<Body> {
    let started = Instant::now();
    if let Some(problem) = misdirected(&request) {
        return answer::problem(problem, cors::response(None));
    }
    // An origin that is not valid text is on no allowlist.
    let origin = request
        .headers()
        .get(header::ORIGIN)
        .map(|origin| origin.to_str().unwrap_or_default().to_owned());
    if request.method() == Method::OPTIONS {
        return preflight::answer(routes, &engine.manifest.serve.paths, &request);
    }
    let allowed = origin
        .as_deref()
        .filter(|origin| route::allowlists(routes).any(|list| list.allows(origin)));
    if origin.is_some() && allowed.is_none() {
        return answer::problem(route::no_list_names_it(), cors::response(None));
    }
    let cors = || cors::response(allowed);
    match forward(engine, routes, request, busy, origin.as_deref(), started).await {
        Ok(mut response) => {
            answer::add(response.headers_mut(), cors());
            response
        }
        Err(problem) => answer::problem(problem, cors()),
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
    if matches!(*request.method(), Method::GET | Method::HEAD)
        && let Some(answered) = models::answer(routes, &path, origin)
    {
        return answered;
    }
    if !served.iter().any(|served| path.ends_with(served.as_str())) {
        return Err(path_not_served(served));
    }
    let (parts, body) = request.into_parts();
    let body = engine.bodies.read(body, busy).await?;
    let model = named_model(&body);
    let (live, path) = match route::choose(routes, served, &path, model.as_deref()) {
        Choice::Route { index, path } => (&routes[index], path),
        Choice::Unknown { model } => {
            return Err(not_served(routes, origin, &format!("no model `{model}`")));
        }
        Choice::Unnamed => return Err(not_served(routes, origin, "the request names no model")),
    };
    if !route::admits(live, origin) {
        return Err(route::not_admitted(live));
    }
    if !served.iter().any(|served| served == path) {
        return Err(path_not_served(served));
    }
    let Some(line) = &live.engine else {
        let detail = format!("the engine of `{}` is not ready", live.route.alias);
        return Err(Problem::new(Code::EngineLoading, detail));
    };
    let Some(place) = engine.begin() else {
        return Err(Problem::new(Code::AgentBusy, "too many requests are in progress"));
    };
    let mut outgoing = Request::new(Full::new(body));
    *outgoing.method_mut() = parts.method;
    *outgoing.uri_mut() = target(path, parts.uri.query()).map_err(|_| unavailable(live))?;
    *outgoing.headers_mut() = outgoing_headers(parts.headers);
    let request = exchange::id_of(outgoing.headers());
    let response = line.send(outgoing).await.map_err(|error| {
        let error = anyhow::Error::new(error);
        tracing::warn!(model = %live.route.alias, request, "the engine did not answer: {error:#}");
        unavailable(live)
    })?;
    let metered = engine.manifest.serve.metered_paths.iter().any(|metered| metered == path);
    let response = pass_on(response, live, metered, started);
    Ok(response.map(|body| Held::new(body, place).boxed()))
}

/// Passes on the engine's answer, metered if it is an inference.
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

/// The headers for the engine: without the client's secret and origin, and without encodings that
/// the scanner could not read.
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

/// Removes hop-by-hop headers, including those that `Connection` names (RFC 9110, 7.6.1).
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

fn path_not_served(served: &[String]) -> Problem {
    let served = served.join(", ");
    Problem::new(Code::PathNotServed, format!("served here: {served}, {}", models::LIST))
}

fn not_served(routes: &[Live], origin: Option<&str>, what: &str) -> Problem {
    let served = route::aliases(routes, origin).join(", ");
    Problem::new(Code::ModelNotServed, format!("{what}; served here: {served}"))
}

fn unavailable(live: &Live) -> Problem {
    Problem::new(
        Code::EngineUnavailable,
        format!("the engine of `{}` does not answer", live.route.alias),
    )
}

/// The target of the request to the engine.
fn target(path: &str, query: Option<&str>) -> Result<Uri, http::uri::InvalidUri> {
    query.map_or_else(|| path.parse(), |query| format!("{path}?{query}").parse())
}

/// Why a request is not for this device, judged by the host it names.
fn misdirected(request: &Request<Incoming>) -> Option<Problem> {
    let target = request.uri().authority().map(http::uri::Authority::as_str);
    let hosts: Vec<_> = request.headers().get_all(header::HOST).iter().collect();
    let hosts: Vec<_> = hosts.iter().map(|host| host.to_str().unwrap_or_default()).collect();
    let must_name = request.version() >= Version::HTTP_11;
    let misdirected = host::check(target, &hosts, must_name).err()?;
    Some(match misdirected {
        Misdirected::Unclear => {
            let detail =
                format!("the request has {} `Host` headers; exactly one is required", hosts.len());
            Problem::new(Code::MalformedRequest, detail)
        }
        Misdirected::Unnamed => Problem::new(Code::HostNotAllowed, "the request names no host"),
        Misdirected::Foreign => {
            Problem::new(Code::HostNotAllowed, "the Host header does not name this device")
        }
    })
}

fn text<'a>(headers: &'a HeaderMap, name: &header::HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
