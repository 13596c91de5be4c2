//! Registration and fleet keys.

use std::sync::Arc;

use axum::{Json as Answer, extract::State, http::StatusCode};
use link_protocol::{
    backend_api::{
        Page, PageRequest,
        key::{CreateKey, KeyCreated, KeyInfo, KeyQuery},
    },
    id::{KeyId, UserId},
};

use crate::{
    api::{
        caller::{Caller, may},
        extract::{Ids, Json, Params},
        list,
        problem::Rejection,
    },
    app::App,
    domain::refusal::Refusal,
};

/// Creates a key. Only this answer contains the secret.
#[utoipa::path(post, path = "/keys", tag = "key", security(("access_token" = ["keys:write"])),
    request_body = CreateKey,
    responses((status = 201, description = "The key.", body = KeyCreated)))]
pub(crate) async fn create_key(
    Caller(caller, ..): Caller<may::WriteKeys>,
    State(app): State<Arc<App>>,
    Json(wish): Json<CreateKey>,
) -> Result<(StatusCode, Answer<KeyCreated>), Rejection> {
    let key = app.create_key(caller, wish).await?;
    Ok((StatusCode::CREATED, Answer(key)))
}

/// Lists the keys of the account, or only those of one member, newest first.
#[utoipa::path(get, path = "/keys", tag = "key", security(("access_token" = ["keys:read"])),
    params(KeyQuery),
    responses((status = 200, description = "The keys.", body = Page<KeyInfo>)))]
pub(crate) async fn list_keys(
    Caller(caller, ..): Caller<may::ReadKeys>,
    State(app): State<Arc<App>>,
    Params(query): Params<KeyQuery>,
) -> Result<Answer<Page<KeyInfo>>, Rejection> {
    let wanted = list::wanted::<KeyId>(&PageRequest { limit: query.limit, cursor: query.cursor })?;
    let creator = query.created_by.as_deref().map(str::parse::<UserId>).transpose();
    let creator = creator.map_err(|error| Refusal::invalid(format!("created_by: {error}")))?;
    let keys = app.keys(caller, creator, &wanted).await?;
    Ok(Answer(list::page(keys, &wanted, |key| key.key_id.to_string())))
}

/// Revokes a key. Devices that were registered with it stay.
#[utoipa::path(delete, path = "/keys/{key_id}", tag = "key", security(("access_token" = ["keys:write"])),
    params(("key_id" = KeyId, Path)),
    responses((status = 204, description = "The key is revoked.")))]
pub(crate) async fn revoke_key(
    Caller(caller, ..): Caller<may::WriteKeys>,
    State(app): State<Arc<App>>,
    Ids(key): Ids<KeyId>,
) -> Result<StatusCode, Rejection> {
    app.revoke_key(caller, key).await?;
    Ok(StatusCode::NO_CONTENT)
}
