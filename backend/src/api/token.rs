//! Personal access tokens.

use std::sync::Arc;

use axum::{Json as Answer, extract::State, http::StatusCode};
use link_protocol::{
    backend_api::{
        Page, PageRequest,
        token::{CreateToken, TokenCreated, TokenInfo},
    },
    id::TokenId,
};

use crate::{
    api::{
        caller::{Caller, may},
        extract::{Ids, Json, Params},
        list,
        problem::Rejection,
    },
    app::App,
};

/// Creates a personal access token for the caller's account. Only this answer contains the token. The token works wherever an
/// access token does, within its scopes and its owner's current role.
#[utoipa::path(post, path = "/tokens", tag = "token", security(("access_token" = ["login"])),
    request_body = CreateToken,
    responses((status = 201, description = "The token.", body = TokenCreated)))]
pub(crate) async fn create_token(
    Caller(caller, ..): Caller<may::ActInPerson>,
    State(app): State<Arc<App>>,
    Json(wish): Json<CreateToken>,
) -> Result<(StatusCode, Answer<TokenCreated>), Rejection> {
    let token = app.create_token(caller, wish).await?;
    Ok((StatusCode::CREATED, Answer(token)))
}

/// Lists the caller's tokens for the account, newest first.
#[utoipa::path(get, path = "/tokens", tag = "token", security(("access_token" = ["login"])),
    params(PageRequest),
    responses((status = 200, description = "The tokens.", body = Page<TokenInfo>)))]
pub(crate) async fn list_tokens(
    Caller(caller, ..): Caller<may::ActInPerson>,
    State(app): State<Arc<App>>,
    Params(request): Params<PageRequest>,
) -> Result<Answer<Page<TokenInfo>>, Rejection> {
    let wanted = list::wanted::<TokenId>(&request)?;
    let tokens = app.tokens(caller, &wanted).await?;
    Ok(Answer(list::page(tokens, &wanted, |token| token.token_id.to_string())))
}

/// Revokes a token.
#[utoipa::path(delete, path = "/tokens/{token_id}", tag = "token",
    security(("access_token" = ["login"])), params(("token_id" = TokenId, Path)),
    responses((status = 204, description = "The token is revoked.")))]
pub(crate) async fn revoke_token(
    Caller(caller, ..): Caller<may::ActInPerson>,
    State(app): State<Arc<App>>,
    Ids(token): Ids<TokenId>,
) -> Result<StatusCode, Rejection> {
    app.revoke_token(caller, token).await?;
    Ok(StatusCode::NO_CONTENT)
}
