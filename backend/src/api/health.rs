//! Liveness.

use std::sync::Arc;

use axum::{Json, extract::State};
use serde::Serialize;

use crate::{api::problem::Rejection, app::App};

/// The answer of a backend that works.
#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct Health {
    status: &'static str,
    version: &'static str,
}

/// Tells whether the backend and its database answer.
#[utoipa::path(get, path = "/healthz", tag = "operation",
    responses((status = 200, description = "It works.", body = Health)))]
pub(crate) async fn check_health(State(app): State<Arc<App>>) -> Result<Json<Health>, Rejection> {
    app.check().await?;
    Ok(Json(Health { status: "ok", version: env!("CARGO_PKG_VERSION") }))
}
