//! Liveness and readiness.

use std::sync::Arc;

use axum::{Json, extract::State};
use link_protocol::problem::Code;
use serde::Serialize;

use crate::{api::problem::Rejection, app::App};

/// Seconds after which a client may retry a backend that is not ready.
const READY_WAIT_S: u64 = 5;

/// The answer of a healthy backend.
#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct Health {
    status: &'static str,
    version: &'static str,
}

/// Reports that the process runs. `/readyz` reports whether the backend can serve requests.
#[utoipa::path(get, path = "/healthz", tag = "operation",
    responses((status = 200, description = "The process runs.", body = Health)))]
pub(crate) async fn check_health() -> Json<Health> {
    std::future::ready(Json(Health { status: "ok", version: env!("CARGO_PKG_VERSION") })).await
}

/// Reports whether the backend can serve requests: the database answers, its tables are up to date, and the backend is
/// not stopping.
#[utoipa::path(get, path = "/readyz", tag = "operation",
    responses((status = 200, description = "The backend is ready.", body = Health)))]
pub(crate) async fn check_readiness(
    State(app): State<Arc<App>>,
) -> Result<Json<Health>, Rejection> {
    let reasons = app.unready().await;
    if reasons.is_empty() {
        return Ok(Json(Health { status: "ready", version: env!("CARGO_PKG_VERSION") }));
    }
    Err(Rejection::new(Code::NotReady, reasons.join("; ")).retry_after(READY_WAIT_S))
}
