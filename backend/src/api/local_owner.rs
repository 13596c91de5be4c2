//! Logins of the owner of a single-user backend, which runs on the owner's machine.
//!
//! Each operation requires the proof from the backend's private file, or a one-time code that was issued for the proof.
//! A backend without such a file answers 404.

use std::sync::Arc;

use axum::{Json as Answer, extract::State, http::StatusCode};
use link_protocol::backend_api::{
    account::TokenResponse,
    local_owner::{OneTimeCode, OwnerCode, OwnerLogin, OwnerPassword, RedeemCode},
};

use crate::{
    api::{
        extract::Json,
        peer::{By, From},
        problem::Rejection,
        query::KnownQuery,
    },
    app::App,
};

/// Logs the owner in with the proof. The first login creates the account.
#[utoipa::path(post, path = "/auth/local/login", tag = "account", request_body = OwnerLogin,
    responses((status = 200, description = "Logged in.", body = TokenResponse)))]
pub(crate) async fn log_in_owner(
    _: KnownQuery,
    From(peer): From,
    By(program): By,
    State(app): State<Arc<App>>,
    Json(request): Json<OwnerLogin>,
) -> Result<Answer<TokenResponse>, Rejection> {
    let tokens = app.log_in_owner(peer, program, request).await?;
    Ok(Answer(tokens))
}

/// Issues a one-time code for the owner's browser. The code expires after 30 seconds or one login.
#[utoipa::path(post, path = "/auth/local/code", tag = "account", request_body = OwnerCode,
    responses((status = 201, description = "The code.", body = OneTimeCode)))]
pub(crate) async fn make_owner_code(
    _: KnownQuery,
    State(app): State<Arc<App>>,
    Json(request): Json<OwnerCode>,
) -> Result<(StatusCode, Answer<OneTimeCode>), Rejection> {
    let code = app.make_owner_code(&request)?;
    std::future::ready(Ok((StatusCode::CREATED, Answer(code)))).await
}

/// Logs the owner in with a one-time code.
#[utoipa::path(post, path = "/auth/local/redeem", tag = "account", request_body = RedeemCode,
    responses((status = 200, description = "Logged in.", body = TokenResponse)))]
pub(crate) async fn redeem_owner_code(
    _: KnownQuery,
    From(peer): From,
    By(program): By,
    State(app): State<Arc<App>>,
    Json(request): Json<RedeemCode>,
) -> Result<Answer<TokenResponse>, Rejection> {
    let tokens = app.redeem_owner_code(peer, program, request).await?;
    Ok(Answer(tokens))
}

/// Sets the owner's password, which enables logins by password and ends all current logins.
#[utoipa::path(post, path = "/auth/local/password", tag = "account", request_body = OwnerPassword,
    responses((status = 204, description = "The password is set.")))]
pub(crate) async fn set_owner_password(
    _: KnownQuery,
    From(peer): From,
    State(app): State<Arc<App>>,
    Json(request): Json<OwnerPassword>,
) -> Result<StatusCode, Rejection> {
    app.set_owner_password(peer, request).await?;
    Ok(StatusCode::NO_CONTENT)
}
