//! Settings.

use std::sync::Arc;

use axum::{Json as Answer, extract::State};
use link_protocol::backend_api::account::AllowlistSetting;

use crate::{
    api::{
        caller::{Caller, may},
        extract::Json,
        problem::Rejection,
    },
    app::App,
};

/// Returns the origins that deployments and repairs carry.
#[utoipa::path(get, path = "/settings/allowlist", tag = "setting",
    security(("access_token" = ["settings:read"])),
    responses((status = 200, description = "The allowlist.", body = AllowlistSetting)))]
pub(crate) async fn read_allowlist(
    _: Caller<may::ReadSettings>,
    State(app): State<Arc<App>>,
) -> Result<Answer<AllowlistSetting>, Rejection> {
    let setting = app.allowlist().await?;
    Ok(Answer(setting))
}

/// Replaces the origins. What is deployed keeps its list until it is repaired or redeployed.
#[utoipa::path(put, path = "/settings/allowlist", tag = "setting",
    security(("access_token" = ["settings:write"])), request_body = AllowlistSetting,
    responses((status = 200, description = "The allowlist from now on.", body = AllowlistSetting)))]
pub(crate) async fn replace_allowlist(
    Caller(caller, ..): Caller<may::WriteSettings>,
    State(app): State<Arc<App>>,
    Json(setting): Json<AllowlistSetting>,
) -> Result<Answer<AllowlistSetting>, Rejection> {
    let setting = app.set_allowlist(caller, setting).await?;
    Ok(Answer(setting))
}
