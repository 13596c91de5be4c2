//! Handles one request: checks it, sends it to the engine, and forwards the answer.
//!
//! The checks run in the order that a browser needs: Host, preflight, origin, path. Every answer to
//! an allowed page, errors included, carries its origin, so that the page can read the real cause.

#![expect(clippy::disallowed_methods, reason = "IO shell: notes when a request came in")]

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri, header};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use link_agent_core::{audio, cors, usage::Framing};
use link_platform::{
    connections::{Busy, Held, Seats},
    descriptors,
};
use link_protocol::{
    plugin::{self, Served},
    problem::{Code, Problem},
    task::Task,
};
use serde::Deserialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{
    answer::{self, Body},
    bodies::Bodies,
    exchange::{self, Exchange},
    headers, models, preflight,
    route::{self, Choice, Live},
    tee::{Meter, Tee},
};
use crate::{named_host::named_host, serving::engine::Upload};

/// The number of connections that requests to engines leave free, so that a preflight always finds
/// one.
const KEPT_FREE: usize = 64;

/// The state that all requests to engines share.
#[derive(Debug)]
pub(super) struct Engine {
    bodies: Bodies,
    seats: Seats,
    /// Limits the concurrent requests to engines.
    requests: Arc<Semaphore>,
    /// The id of this device.
    device: HeaderValue,
}

impl Engine {
    pub(super) fn new(device: HeaderValue) -> Self {
        Self::for_connections(descriptors::served_connections(), device)
    }

    pub(super) fn for_connections(connections: usize, device: HeaderValue) -> Self {
        let requests = connections - KEPT_FREE.min(connections / 2);
        Self {
            bodies: Bodies::new(),
            seats: Seats::new(connections),
            requests: Arc::new(Semaphore::new(requests)),
            device,
        }
    }

    /// Returns the connection seats that all ports share.
    pub(super) const fn seats(&self) -> &Seats {
        &self.seats
    }

    /// Reserves a permit for a request to an engine. Returns `None` if all permits are in use.
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
    if let Err(misdirected) = named_host(request.uri(), request.headers(), request.version()) {
        return answer::problem(misdirected.problem(), cors::response(None));
    }
    let origin = route::origin(request.headers()).map(str::to_owned);
    if request.method() == Method::OPTIONS && origin.is_some() {
        return preflight::answer(routes, &request);
    }
    let allowed = origin
        .as_deref()
        .filter(|origin| route::allowlists(routes).any(|list| list.allows(origin)));
    if origin.is_some() && allowed.is_none() {
        return answer::problem(route::no_list_names_it(routes), cors::response(None));
    }
    let cors = || cors::response(allowed);
    let mut response =
        match forward(engine, routes, request, busy, origin.as_deref(), started).await {
            Ok(mut response) => {
                answer::add(response.headers_mut(), cors());
                response
            }
            Err(problem) => answer::problem(problem, cors()),
        };
    if allowed.is_some() {
        response.headers_mut().insert(cors::DEVICE, engine.device.clone());
    }
    response
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
    if matches!(*request.method(), Method::GET | Method::HEAD)
        && let Some(answered) = models::answer(routes, &path, origin)
    {
        return answered;
    }
    if models::is_asked(routes, &path) {
        return Ok(method_not_allowed(request.method(), plugin::Method::Get));
    }
    if !route::paths(routes).any(|served| path.ends_with(served)) {
        return Err(path_not_served(route::usable_paths(routes)));
    }
    let (parts, body) = request.into_parts();
    let body = engine.bodies.read(body, busy).await?;
    let kind = text(&parts.headers, &header::CONTENT_TYPE).unwrap_or_default();
    let model = named_model(kind, &body);
    let (live, path) = match route::choose(routes, &path, model.as_deref()) {
        Choice::Route { index, path } => (&routes[index], path),
        Choice::Unknown { model } => {
            return Err(not_served(routes, origin, &format!("no model `{model}`")));
        }
        Choice::Unnamed => return Err(not_served(routes, origin, "the request names no model")),
    };
    if !route::admits(live, origin) {
        return Err(route::not_admitted(live));
    }
    let adapter = &live.plugin.adapter;
    let Some(served) = adapter.served(path) else {
        return Err(path_not_served(route::usable_paths(std::slice::from_ref(live))));
    };
    if !served.is_for(live.task) {
        return Err(not_for(live));
    }
    if !served.is_in(live.build.as_deref()) {
        return Err(later_build(live, served));
    }
    if parts.method.as_str() != served.method.as_str() {
        return Ok(method_not_allowed(&parts.method, served.method));
    }
    if let Some(problem) = ignored_field(served, kind, &body) {
        return Err(problem);
    }
    let Some(line) = &live.engine else {
        return Err(loading(live));
    };
    let Some(place) = engine.begin() else {
        return Err(Problem::new(Code::AgentBusy, "too many requests are in progress"));
    };
    let uploaded = match adapter.usage.unit {
        plugin::Unit::Seconds if served.metered => audio::duration_of_upload(kind, &body),
        plugin::Unit::Seconds | plugin::Unit::Tokens | plugin::Unit::Images => None,
    };
    let upload = Upload::new(front_of(served, kind), body);
    // hyper announces no length of an empty body, and an engine would wait for bytes that never come.
    let length = HeaderValue::from(upload.len());
    let mut outgoing = Request::new(upload);
    *outgoing.method_mut() = parts.method;
    *outgoing.uri_mut() =
        target(served.target(), parts.uri.query()).map_err(|_| unavailable(live))?;
    *outgoing.headers_mut() = headers::outgoing(parts.headers);
    if outgoing.method() == Method::POST {
        outgoing.headers_mut().insert(header::CONTENT_LENGTH, length);
    }
    let request = exchange::id_of(outgoing.headers());
    let response = line.send(outgoing).await.map_err(|error| {
        let error = anyhow::Error::new(error);
        tracing::warn!(model = %live.route.alias, request, "the engine did not answer: {error:#}");
        unavailable(live)
    })?;
    let response = pass_on(response, live, served.metered.then_some(uploaded), started);
    Ok(response.map(|body| Held::new(body, place).boxed()))
}

/// Forwards the engine's answer. Measures the usage if the request is an inference; `meter` then has the length of the
/// uploaded audio, if known.
fn pass_on(
    response: Response<Incoming>,
    live: &Live,
    meter: Option<Option<Duration>>,
    started: Instant,
) -> Response<Body> {
    let (mut parts, inner) = response.into_parts();
    let replaced: Vec<_> =
        parts.headers.keys().filter(|name| cors::is_replaced(name.as_str())).cloned().collect();
    for name in replaced {
        parts.headers.remove(name);
    }
    headers::remove_hop_by_hop(&mut parts.headers);
    let meter = meter.filter(|_| live.route.telemetry && parts.status.is_success());
    let meter = meter.map(|uploaded| {
        let kind = text(&parts.headers, &header::CONTENT_TYPE).unwrap_or_default();
        let framing =
            if kind.starts_with("text/event-stream") { Framing::Events } else { Framing::Whole };
        Meter::new(
            framing,
            live.plugin.adapter.usage.unit,
            live.route.model_id,
            live.usage.clone(),
            started,
        )
        .uploaded(uploaded)
    });
    Response::from_parts(parts, Tee { inner, meter }.boxed())
}

/// Returns the model that a request names, in its JSON or in its form.
fn named_model(kind: &str, body: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        model: Option<String>,
    }
    if is_form(kind) {
        return audio::form_field(kind, body, "model");
    }
    serde_json::from_slice::<Named>(body).ok()?.model
}

fn is_form(kind: &str) -> bool {
    kind.trim_start().to_ascii_lowercase().starts_with("multipart/form-data")
}

/// Returns a field of the form that the engine would ignore, with its value.
fn refused_field<'a>(served: &'a Served, kind: &str, body: &[u8]) -> Option<(&'a str, &'a str)> {
    let sent = |(name, value): &(&String, &String)| {
        is_form(kind) && audio::form_field(kind, body, name).as_ref() == Some(value)
    };
    served.refused.iter().find(sent).map(|(name, value)| (name.as_str(), value.as_str()))
}

/// Returns the problem of a form with a field that the engine would ignore.
fn ignored_field(served: &Served, kind: &str, body: &[u8]) -> Option<Problem> {
    let (name, value) = refused_field(served, kind, body)?;
    let detail = format!("this path ignores `{name}={value}`; send the request without it");
    Some(Problem::new(Code::MalformedRequest, detail))
}

/// Returns the plugin's fields, which stand in front of those of a form.
fn front_of(served: &Served, kind: &str) -> Bytes {
    if !is_form(kind) {
        return Bytes::new();
    }
    let fields = served.form.iter();
    let fields = fields.filter_map(|(name, value)| audio::field_in_front(kind, name, value));
    fields.flatten().collect::<Vec<u8>>().into()
}

fn path_not_served<'a>(served: impl Iterator<Item = &'a str>) -> Problem {
    let mut distinct = Vec::new();
    for path in served {
        if !distinct.contains(&path) {
            distinct.push(path);
        }
    }
    let served = distinct.join(", ");
    Problem::new(Code::PathNotServed, format!("served here: {served}, {}", models::LIST))
}

/// Returns the problem of a request for something that the model is not for.
fn not_for(live: &Live) -> Problem {
    let served: Vec<&str> = live.usable_paths().collect();
    let what = match live.task {
        Some(Task::Chat) => "a model for conversations",
        Some(Task::Embeddings) => "a model for embeddings",
        Some(Task::Rerank) => "a model that ranks documents",
        None => "not for this",
    };
    let detail = format!("`{}` is {what}; it serves {}", live.route.alias, served.join(", "));
    Problem::new(Code::PathNotServed, detail)
}

/// Returns the problem of a request for something that the build of the engine does not have yet.
fn later_build(live: &Live, served: &Served) -> Problem {
    let (engine, first) = (&live.plugin.engine.name, served.from_build.as_deref());
    let detail = format!(
        "`{}` is served by build {} of {engine}, and `{}` needs build {} or later",
        live.route.alias,
        live.build.as_deref().unwrap_or_default(),
        served.path,
        first.unwrap_or_default()
    );
    let hint = "install a later build with `link engine install`, then stop and serve the model";
    Problem { hint: Some(hint.to_owned()), ..Problem::new(Code::PathNotServed, detail) }
}

/// Answers a request whose method the path does not take. OPTIONS asks which method it takes.
fn method_not_allowed(asked: &Method, allowed: plugin::Method) -> Response<Body> {
    let allowed = allowed.as_str();
    if asked == Method::OPTIONS {
        let allow = vec![("allow", format!("{allowed}, OPTIONS"))];
        return answer::empty(StatusCode::NO_CONTENT, allow);
    }
    let problem = Problem::new(Code::MethodNotAllowed, format!("this path takes {allowed}"));
    answer::problem(problem, vec![("allow", format!("{allowed}, OPTIONS"))])
}

fn not_served(routes: &[Live], origin: Option<&str>, what: &str) -> Problem {
    let served = route::aliases(routes, origin).join(", ");
    Problem::new(Code::ModelNotServed, format!("{what}; served here: {served}"))
}

fn loading(live: &Live) -> Problem {
    let detail = format!("the engine of `{}` is not ready", live.route.alias);
    Problem::new(Code::EngineLoading, detail)
}

fn unavailable(live: &Live) -> Problem {
    Problem::new(
        Code::EngineUnavailable,
        format!("the engine of `{}` does not answer", live.route.alias),
    )
}

/// Returns the target of the request to the engine.
fn target(path: &str, query: Option<&str>) -> Result<Uri, http::uri::InvalidUri> {
    query.map_or_else(|| path.parse(), |query| format!("{path}?{query}").parse())
}

fn text<'a>(headers: &'a HeaderMap, name: &header::HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
