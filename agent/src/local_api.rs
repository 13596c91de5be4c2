//! The local API: shows the agent's current state and accepts actions of its user.
//!
//! Every answer is computed on request. On the TCP port of 127.0.0.1, every user of the machine may
//! read the fields that the specification lists; anything else requires a token or the socket. A
//! request on the port is refused unless its Host header names this machine, so no web page can
//! reach the API through its own domain name. Requests from pages of other origins are refused too.

mod access;
mod actions;
mod connections;
mod events;
mod exposition;
mod listening;
pub(crate) mod metrics;
pub(crate) mod views;
pub(crate) mod waiting;

use std::time::Duration;

use anyhow::Context as _;
use axum::{
    Json, Router,
    extract::{DefaultBodyLimit, Query, Request, State},
    http::{HeaderValue, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{delete, get, post},
};
use link_agent_core::host::{self, Misdirected};
use link_client::local::proof;
use link_installer::{receipt::Receipt, versions};
use link_platform::paths::Roots;
use link_protocol::{
    id::DeviceId,
    local_api::{
        CANCEL_DEPLOY_PATH, HEALTHZ_PATH, Healthz, METRICS_PATH, MODELS_PATH, PIPELINE_PATH,
        PROOF_PATH, PipelineEntry, Proof, SERVE_PATH, STOP_PATH, UPDATE_PATH,
    },
    problem::{self, Code, Problem},
};
use serde::Deserialize;
use tokio::{
    sync::{mpsc, watch},
    task::JoinHandle,
};
use tokio_util::sync::{CancellationToken, DropGuard};

pub(crate) use self::{
    access::Tokens,
    listening::{OwnDoor, PortTaken, WantedPort},
};
use self::{
    access::{Reader, Sight, Way},
    connections::Doors,
    metrics::Measured,
};
use crate::{
    device::update::Updates,
    inbox::{Inbox, View},
    named_host::named_host,
    serving::{engine::Engines, proxy::Frontends},
};

/// How long pending answers may take when the agent stops.
const FAREWELL: Duration = Duration::from_millis(500);

/// Seconds after which a client of a busy agent should retry.
const RETRY_AFTER: &str = "5";

/// The parts of the agent that the API uses.
#[derive(Clone, Debug)]
pub(crate) struct LocalApi {
    pub(crate) device_id: DeviceId,
    pub(crate) tokens: Tokens,
    pub(crate) inbox: Inbox,
    pub(crate) engines: Engines,
    pub(crate) updates: Updates,
    /// Notified after each handled event; closed when the agent stops.
    pub(crate) changes: watch::Receiver<()>,
    pub(crate) measured: Measured,
}

/// The size limit of a request body, in bytes.
const BODY: usize = 64 * 1024;

/// The listening API; dropping it closes the port.
#[derive(Debug)]
pub(crate) struct Listening {
    pub(crate) door: OwnDoor,
    roots: Roots,
    closing: DropGuard,
    served: JoinHandle<()>,
}

impl Listening {
    /// Closes the port and waits for pending answers.
    pub(crate) async fn close(self) {
        listening::strike_out(&self.roots);
        drop(self.closing);
        if tokio::time::timeout(FAREWELL, self.served).await.is_err() {
            tracing::debug!("a client of the local API did not read its answer in time");
        }
    }
}

/// Starts listening.
pub(crate) async fn start(
    api: LocalApi,
    wanted: WantedPort,
    frontends: &Frontends,
    roots: &Roots,
) -> anyhow::Result<Listening> {
    let runtime = frontends.handle()?;
    let listener = runtime.spawn(wanted.bind()).await??;
    let port = listener.local_addr().context("the local API has no address")?.port();
    let socket = {
        let _within = runtime.enter();
        listening::bind_socket(roots)
    };
    let (door, own) = mpsc::channel(1);
    let closing = CancellationToken::new();
    let router = router(api, port, &closing);
    let doors = Doors { port: listener, socket, own };
    let stop = closing.clone();
    let served = runtime.spawn(connections::serve(doors, router, stop));
    listening::write_down(roots, port);
    tracing::info!("local API on http://127.0.0.1:{port}");
    let door = OwnDoor { port, door };
    Ok(Listening { door, roots: roots.clone(), closing: closing.drop_guard(), served })
}

fn router(api: LocalApi, port: u16, closing: &CancellationToken) -> Router {
    let prove = async move |State(api): State<LocalApi>, Query(asked): Query<Asked>| {
        prove(&api, port, &asked.nonce)
    };
    Router::new()
        .route(HEALTHZ_PATH, get(healthz))
        .route(MODELS_PATH, get(models))
        .route(METRICS_PATH, get(metrics))
        .route(PROOF_PATH, get(prove))
        .route(UPDATE_PATH, post(actions::update))
        .route(SERVE_PATH, post(actions::serve))
        .route(STOP_PATH, post(actions::stop))
        .route(CANCEL_DEPLOY_PATH, post(actions::cancel_deploy))
        .route(PIPELINE_PATH, delete(actions::remove))
        .merge(events::router(api.clone(), closing.clone()))
        .fallback(async || Refusal::new(Code::NotFound, "no such path"))
        .method_not_allowed_fallback(async || {
            Refusal::new(Code::MethodNotAllowed, "this path does not support the method")
        })
        .layer(DefaultBodyLimit::max(BODY))
        .layer(middleware::from_fn_with_state(port, check))
        .with_state(api)
}

impl LocalApi {
    /// Returns the current state.
    async fn state(&self) -> Result<(Healthz, Vec<PipelineEntry>), Refusal> {
        let view = self.view().await?;
        let health = self.engines.health(&view.pipelines).await;
        let layout = self.updates.layout();
        let receipt = Receipt::read(&layout.receipt()).unwrap_or_default();
        let updating = views::Updating {
            channel: receipt.channel(env!("CARGO_PKG_VERSION")).to_string(),
            progress: self.updates.progress(),
            last: versions::state(layout).last,
        };
        let pipelines = views::models(&view);
        let containment = self.engines.containment();
        Ok((views::healthz(self.device_id, view, &health, updating, containment), pipelines))
    }

    async fn view(&self) -> Result<View, Refusal> {
        let held_up = || Refusal::new(Code::AgentBusy, "the agent is stopping or busy");
        self.inbox.view().await.ok_or_else(held_up)
    }
}

/// The reason why a request is refused, as a problem document.
#[derive(Debug)]
struct Refusal(Box<Problem>);

impl Refusal {
    fn new(code: Code, detail: impl Into<String>) -> Self {
        Self(Box::new(Problem::new(code, detail)))
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status =
            StatusCode::from_u16(self.0.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let busy = status == StatusCode::SERVICE_UNAVAILABLE;
        let unauthorized = status == StatusCode::UNAUTHORIZED;
        let kind = [(header::CONTENT_TYPE, problem::CONTENT_TYPE)];
        let mut response = (status, kind, Json(self.0)).into_response();
        if busy {
            let headers = response.headers_mut();
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static(RETRY_AFTER));
        }
        if unauthorized {
            let headers = response.headers_mut();
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

async fn healthz(sight: Sight, State(api): State<LocalApi>) -> Result<Json<Healthz>, Refusal> {
    let (state, _) = api.state().await?;
    Ok(Json(match sight {
        Sight::Everything => state,
        Sight::WhatIsOpen => state.for_everybody(),
    }))
}

async fn models(State(api): State<LocalApi>) -> Result<Json<Vec<PipelineEntry>>, Refusal> {
    Ok(Json(views::models(&api.view().await?)))
}

async fn metrics(_: Reader, State(api): State<LocalApi>) -> Result<Response, Refusal> {
    let (state, pipelines) = api.state().await?;
    let text = metrics::text(&state, &pipelines, &api.measured.now());
    Ok(([(header::CONTENT_TYPE, exposition::CONTENT_TYPE)], text).into_response())
}

/// The parameters of a proof.
#[derive(Debug, Deserialize)]
struct Asked {
    nonce: String,
}

/// Proves to a program of this user that the listener on `port` is its agent.
fn prove(api: &LocalApi, port: u16, nonce: &str) -> Result<Json<Proof>, Refusal> {
    if nonce.len() != proof::NONCE_LENGTH {
        return Err(Refusal::new(Code::InvalidRequest, "the nonce has the wrong length"));
    }
    Ok(Json(Proof { proof: proof::of(&api.tokens.control, port, nonce) }))
}

/// Refuses requests that a web page may have sent; pages can only use the port.
async fn check(State(port): State<u16>, request: Request, next: Next) -> Response {
    let refusal = match Way::of(request.extensions()) {
        Way::Port => refusal(port, &request),
        Way::Private => None,
    };
    match refusal {
        Some(refusal) => refusal.into_response(),
        None => next.run(request).await,
    }
}

/// Returns the reason to refuse a request on `port`, if any.
fn refusal(port: u16, request: &Request) -> Option<Refusal> {
    let named = named_host(request.uri(), request.headers(), request.version());
    let misdirected = match named {
        Ok(host) if host::is_port(host, port) => None,
        Ok(_) => Some(Misdirected::Foreign),
        Err(misdirected) => Some(misdirected),
    };
    if let Some(misdirected) = misdirected {
        return Some(Refusal(Box::new(misdirected.problem())));
    }
    let mut origins = request.headers().get_all(header::ORIGIN).iter();
    let is_own =
        |origin: &HeaderValue| origin.to_str().is_ok_and(|origin| host::is_origin(origin, port));
    let foreign = !origins.all(is_own);
    foreign.then(|| {
        let hint = "call the model on the port that it is served on";
        let problem = Problem::new(Code::OriginNotAllowed, "no web page may call this API");
        Refusal(Box::new(Problem { hint: Some(hint.to_owned()), ..problem }))
    })
}

#[cfg(test)]
mod tests {
    use axum::{body::Body, http::Version};

    use super::*;

    #[test]
    fn the_port_names_its_host_once_and_by_the_rules_of_the_proxy() {
        let code = |target: &str, hosts: &[&str], version| {
            let mut request = Request::builder().uri(target).version(version);
            for host in hosts {
                request = request.header(header::HOST, *host);
            }
            let refused = refusal(8080, &request.body(Body::empty()).unwrap());
            refused.map(|refusal| refusal.0.code)
        };
        let (ours, evil) = ("127.0.0.1:8080", "evil.example");
        let code_of = |code: Code| Some(code.as_str().to_owned());
        let (unclear, foreign) = (code_of(Code::MalformedRequest), code_of(Code::HostNotAllowed));
        for (target, hosts, expected) in [
            ("/models", &[ours][..], None),
            ("/models", &["LocalHost:8080"], None),
            ("/models", &[ours, evil], unclear.clone()),
            ("/models", &[], unclear),
            ("/models", &[evil], foreign.clone()),
            ("/models", &["127.0.0.1:8081"], foreign.clone()),
            ("/models", &["127.0.0.1"], foreign.clone()),
            // The authority of the target takes precedence (RFC 9112, section 3.2.2).
            ("http://evil.example/models", &[ours], foreign.clone()),
            ("http://127.0.0.1:8080/models", &[evil], None),
        ] {
            assert_eq!(code(target, hosts, Version::HTTP_11), expected, "{target} {hosts:?}");
        }
        assert_eq!(code("/models", &[], Version::HTTP_10), foreign);
    }
}
