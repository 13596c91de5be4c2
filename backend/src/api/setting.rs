//! Settings.

use std::sync::Arc;

use axum::{Json as Answer, extract::State};
use link_protocol::backend_api::account::{AllowlistSetting, SetAllowlist};

use crate::{
    api::{
        caller::{Caller, may},
        etag::IfMatch,
        extract::Json,
        problem::Rejection,
    },
    app::App,
};

/// Returns the origins of the account's deployments and repairs: its own origins, and the backend's defaults.
#[utoipa::path(get, path = "/settings/allowlist", tag = "setting",
    security(("access_token" = ["settings:read"])),
    responses((status = 200, description = "The allowlist.", body = AllowlistSetting)))]
pub(crate) async fn read_allowlist(
    Caller(caller, ..): Caller<may::ReadSettings>,
    State(app): State<Arc<App>>,
) -> Result<Answer<AllowlistSetting>, Rejection> {
    let setting = app.allowlist(caller).await?;
    Ok(Answer(setting))
}

/// Replaces the account's own origins. Deployed models keep their list until they are repaired or redeployed. With
/// `If-Match`, nothing is replaced if the list was changed since its tag was read.
#[utoipa::path(put, path = "/settings/allowlist", tag = "setting",
    security(("access_token" = ["settings:write"])), request_body = SetAllowlist,
    params(("If-Match" = Option<String>, Header, description = "The tag of the list that the caller has read.")),
    responses((status = 200, description = "The new allowlist.", body = AllowlistSetting)))]
pub(crate) async fn replace_allowlist(
    Caller(caller, ..): Caller<may::WriteSettings>,
    State(app): State<Arc<App>>,
    tags: IfMatch,
    Json(setting): Json<SetAllowlist>,
) -> Result<Answer<AllowlistSetting>, Rejection> {
    let setting = app.set_allowlist(caller, setting, tags.check()).await?;
    Ok(Answer(setting))
}
