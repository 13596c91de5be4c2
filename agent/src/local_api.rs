//! The local API on 127.0.0.1: what this agent does at this moment.
//!
//! Every answer is computed when it is asked for. A request is refused unless its Host is this
//! machine's own, so that no web page can reach the API under a name of its choice, and none that
//! a page of another origin makes is answered.

pub(crate) mod views;

use anyhow::Context as _;
use axum::{
    Json, Router,
    extract::{Request, State},
    http::{HeaderMap, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use link_agent_core::event::Event;
use link_installer::{receipt::Receipt, versions};
use link_platform::{fs, paths::Roots};
use link_protocol::{
    id::DeviceId,
    local_api::{HEALTHZ_PATH, Healthz, MODELS_PATH, PipelineEntry, UPDATE_PATH},
    problem::{self, Code, Problem},
    report::LifecycleStatus,
    secret::Secret,
    update::UpdateRequest,
};
use sha2::{Digest as _, Sha256};
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::{engine::Engines, proxy::Frontends, run::Inbox, update::Updates};

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
}

/// The API that listens; dropping it closes the port.
#[derive(Debug)]
pub(crate) struct Listening {
    pub(crate) port: u16,
    _closing: DropGuard,
}

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
        .with_context(|| busy(port))?;
    let port = listener.local_addr().context("the local API has no address")?.port();
    let api = LocalApi { port, ..api };
    let router = Router::new()
        .route(HEALTHZ_PATH, get(healthz))
        .route(MODELS_PATH, get(models))
        .route(UPDATE_PATH, post(update))
        .fallback(async || refuse(&Problem::new(Code::NotFound, "no such path")))
        .layer(middleware::from_fn_with_state(api.clone(), check))
        .with_state(api);
    let closing = CancellationToken::new();
    let stop = closing.clone().cancelled_owned();
    runtime.spawn(async move {
        if let Err(error) = axum::serve(listener, router).with_graceful_shutdown(stop).await {
            tracing::error!("the local API ended: {error}");
        }
    });
    tracing::info!("local API on http://127.0.0.1:{port}");
    Ok(Listening { port, _closing: closing.drop_guard() })
}

async fn healthz(State(api): State<LocalApi>) -> Result<Json<Healthz>, StatusCode> {
    let view = api.inbox.view().await.ok_or(StatusCode::SERVICE_UNAVAILABLE)?;
    let health = api.engines.health(&view.pipelines).await;
    let layout = api.updates.layout();
    let receipt = Receipt::read(&layout.receipt()).unwrap_or_default();
    let updating = views::Updating {
        channel: receipt.channel(env!("CARGO_PKG_VERSION")).to_string(),
        progress: api.updates.progress(),
        last: versions::state(layout).last,
    };
    Ok(Json(views::healthz(api.device_id, view, &health, updating)))
}

async fn models(State(api): State<LocalApi>) -> Result<Json<Vec<PipelineEntry>>, StatusCode> {
    let view = api.inbox.view().await.ok_or(StatusCode::SERVICE_UNAVAILABLE)?;
    Ok(Json(views::models(&view)))
}

/// Begins an update; how it goes stands in the state of the agent.
async fn update(
    State(api): State<LocalApi>,
    headers: HeaderMap,
    Json(request): Json<UpdateRequest>,
) -> Response {
    if !knows(&headers, &api.token) {
        return refuse(&Problem::new(Code::ControlTokenRequired, "no or a wrong token"));
    }
    let Some(view) = api.inbox.view().await else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    if view.status == LifecycleStatus::Updating {
        return refuse(&Problem::new(Code::UpdateRunning, "one at a time"));
    }
    api.updates.forget_last();
    api.inbox.event(Event::UpdateAsked(request)).await;
    StatusCode::ACCEPTED.into_response()
}

/// Tells whether the request knows the token. The digests are compared, so that the time it takes
/// says nothing of the token.
fn knows(headers: &HeaderMap, token: &Secret) -> bool {
    let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let given = given.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
    Sha256::digest(given) == Sha256::digest(token.expose())
}

async fn check(State(api): State<LocalApi>, request: Request, next: Next) -> Response {
    match refusal(api.port, request.headers()) {
        Some(problem) => refuse(&problem),
        None => next.run(request).await,
    }
}

/// Why a request with these headers is not answered on `port`, if it is not.
fn refusal(port: u16, headers: &HeaderMap) -> Option<Problem> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let ours = ["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{port}"));
    let has_our_host = text(header::HOST).is_some_and(|host| ours.iter().any(|our| our == host));
    if !has_our_host {
        return Some(Problem::new(Code::HostNotAllowed, "not a name of this device"));
    }
    let foreign = headers.contains_key(header::ORIGIN)
        && !text(header::ORIGIN)
            .is_some_and(|origin| ours.iter().any(|our| origin == format!("http://{our}")));
    foreign.then(|| Problem::new(Code::OriginNotAllowed, "no web page may call this API"))
}

fn refuse(problem: &Problem) -> Response {
    let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, [(header::CONTENT_TYPE, problem::CONTENT_TYPE)], Json(problem)).into_response()
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
