//! The local API on 127.0.0.1: what this agent does at this moment.
//!
//! Every answer is computed when it is asked for. A request is refused unless its Host is this
//! machine's own, so that no web page can reach the API under a name of its choice, and none that
//! a page of another origin makes is answered. Reads need no token; actions do.

mod actions;
mod events;
mod exposition;
pub(crate) mod metrics;
pub(crate) mod views;

use std::time::Duration;

use anyhow::Context as _;
use axum::{
    Json, Router,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{delete, get, post},
};
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use link_agent_core::host;
use link_installer::{receipt::Receipt, versions};
use link_platform::{fs, paths::Roots};
use link_protocol::{
    id::DeviceId,
    local_api::{
        CANCEL_DEPLOY_PATH, HEALTHZ_PATH, Healthz, METRICS_PATH, MODELS_PATH, PIPELINE_PATH,
        PipelineEntry, SERVE_PATH, STOP_PATH, UPDATE_PATH,
    },
    problem::{self, Code, Problem},
    secret::Secret,
};
use tokio::{net::TcpListener, sync::watch, task::JoinHandle};
use tokio_util::sync::{CancellationToken, DropGuard};

use self::metrics::Measured;
use crate::{
    engine::Engines,
    proxy::Frontends,
    run::{Inbox, View},
    update::Updates,
};

/// How long answers may take when the agent stops.
const FAREWELL: Duration = Duration::from_millis(500);

/// Seconds after which an agent that is busy may be asked again.
const RETRY_AFTER: &str = "5";

/// What the API is made of.
#[derive(Clone, Debug)]
pub(crate) struct LocalApi {
    pub(crate) device_id: DeviceId,
    pub(crate) port: u16,
    /// What a request for an action must know.
    pub(crate) token: Secret,
    pub(crate) inbox: Inbox,
    pub(crate) engines: Engines,
    pub(crate) updates: Updates,
    /// Notified after each event that the loop has handled; closed when the agent stops.
    pub(crate) changes: watch::Receiver<()>,
    pub(crate) measured: Measured,
}

/// The API that listens; dropping it closes the port.
#[derive(Debug)]
pub(crate) struct Listening {
    pub(crate) port: u16,
    closing: DropGuard,
    served: JoinHandle<()>,
}

impl Listening {
    /// Closes the port, and lets the answers that are under way come to their end.
    pub(crate) async fn close(self) {
        drop(self.closing);
        if tokio::time::timeout(FAREWELL, self.served).await.is_err() {
            tracing::debug!("a client of the local API did not take its answer in time");
        }
    }
}

/// Another program has the port: no fault of this version.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct PortTaken(String);

/// Makes the token that actions need, in a file that only this user can read.
pub(crate) fn new_token(roots: &Roots) -> Secret {
    let token = Secret::new(BASE64_URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>()));
    if let Err(error) = fs::write_private(&roots.control_token(), token.expose().as_bytes()) {
        // Nobody can ask for an action then; everything else goes on.
        tracing::warn!("{error}");
    }
    token
}

/// Starts to listen.
pub(crate) async fn start(api: LocalApi, frontends: &Frontends) -> anyhow::Result<Listening> {
    let runtime = frontends.handle()?;
    let port = api.port;
    let listener = runtime
        .spawn(async move { TcpListener::bind(("127.0.0.1", port)).await })
        .await?
        .map_err(|error| {
            if error.kind() == std::io::ErrorKind::AddrInUse {
                anyhow::Error::new(PortTaken(busy(port)))
            } else {
                anyhow::Error::new(error).context(busy(port))
            }
        })?;
    let port = listener.local_addr().context("the local API has no address")?.port();
    let api = LocalApi { port, ..api };
    let closing = CancellationToken::new();
    let router = Router::new()
        .route(HEALTHZ_PATH, get(healthz))
        .route(MODELS_PATH, get(models))
        .route(METRICS_PATH, get(metrics))
        .route(UPDATE_PATH, post(actions::update))
        .route(SERVE_PATH, post(actions::serve))
        .route(STOP_PATH, post(actions::stop))
        .route(CANCEL_DEPLOY_PATH, post(actions::cancel_deploy))
        .route(PIPELINE_PATH, delete(actions::remove))
        .merge(events::router(api.clone(), closing.clone()))
        .fallback(async || Refusal::new(Code::NotFound, "no such path"))
        .method_not_allowed_fallback(async || {
            Refusal::new(Code::MethodNotAllowed, "the path takes another method")
        })
        .layer(middleware::from_fn_with_state(api.clone(), check))
        .with_state(api);
    let stop = closing.clone().cancelled_owned();
    let served = runtime.spawn(async move {
        if let Err(error) = axum::serve(listener, router).with_graceful_shutdown(stop).await {
            tracing::error!("the local API ended: {error}");
        }
    });
    tracing::info!("local API on http://127.0.0.1:{port}");
    Ok(Listening { port, closing: closing.drop_guard(), served })
}

impl LocalApi {
    /// The whole state at this moment.
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
        Ok((views::healthz(self.device_id, view, &health, updating), pipelines))
    }

    async fn view(&self) -> Result<View, Refusal> {
        let held_up = || Refusal::new(Code::AgentBusy, "the agent stops, or is held up");
        self.inbox.view().await.ok_or_else(held_up)
    }
}

/// Why a request is not answered, as a problem document.
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
        let kind = [(header::CONTENT_TYPE, problem::CONTENT_TYPE)];
        let mut response = (status, kind, Json(self.0)).into_response();
        if busy {
            let headers = response.headers_mut();
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static(RETRY_AFTER));
        }
        response
    }
}

async fn healthz(State(api): State<LocalApi>) -> Result<Json<Healthz>, Refusal> {
    Ok(Json(api.state().await?.0))
}

async fn models(State(api): State<LocalApi>) -> Result<Json<Vec<PipelineEntry>>, Refusal> {
    Ok(Json(views::models(&api.view().await?)))
}

async fn metrics(State(api): State<LocalApi>) -> Result<Response, Refusal> {
    let (state, pipelines) = api.state().await?;
    let text = metrics::text(&state, &pipelines, &api.measured.now());
    Ok(([(header::CONTENT_TYPE, exposition::CONTENT_TYPE)], text).into_response())
}

async fn check(State(api): State<LocalApi>, request: Request, next: Next) -> Response {
    match refusal(api.port, request.headers()) {
        Some(refusal) => refusal.into_response(),
        None => next.run(request).await,
    }
}

/// Why a request with these headers is not answered on `port`, if it is not.
fn refusal(port: u16, headers: &HeaderMap) -> Option<Refusal> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    if !text(header::HOST).is_some_and(|host| host::is_port(host, port)) {
        return Some(Refusal::new(Code::HostNotAllowed, "not a name of this device"));
    }
    let foreign = headers.contains_key(header::ORIGIN)
        && !text(header::ORIGIN).is_some_and(|origin| host::is_origin(origin, port));
    foreign.then(|| Refusal::new(Code::OriginNotAllowed, "no web page may call this API"))
}

fn busy(port: u16) -> String {
    match link_platform::port_owner::find(port) {
        Some(owner) => format!(
            "the local API's port {port} is in use by {} (process {})",
            owner.program, owner.pid
        ),
        None => format!("the local API's port {port} cannot be taken"),
    }
}
