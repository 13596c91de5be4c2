//! The first account, logins, and the identity of the caller.

use std::sync::Arc;

use axum::{Json as Answer, extract::State, http::StatusCode};
use link_protocol::backend_api::{
    account::{LoginRequest, Me, RefreshRequest, SetupRequest, TokenResponse},
    member::{EnterAccount, Membership},
};

use crate::{
    api::{
        caller::{Caller, may},
        extract::Json,
        peer::{By, From},
        problem::Rejection,
        query::KnownQuery,
    },
    app::App,
};

/// Creates the first account with the setup token of the first start.
#[utoipa::path(post, path = "/setup", tag = "account", request_body = SetupRequest,
    responses((status = 201, description = "The account exists; its user is logged in.", body = TokenResponse)))]
pub(crate) async fn set_up(
    _: KnownQuery,
    From(peer): From,
    By(program): By,
    State(app): State<Arc<App>>,
    Json(request): Json<SetupRequest>,
) -> Result<(StatusCode, Answer<TokenResponse>), Rejection> {
    let tokens = app.set_up(peer, program, request).await?;
    Ok((StatusCode::CREATED, Answer(tokens)))
}

/// Logs in with an e-mail address and a password.
#[utoipa::path(post, path = "/auth/login", tag = "account", request_body = LoginRequest,
    responses((status = 200, description = "Logged in.", body = TokenResponse)))]
pub(crate) async fn log_in(
    _: KnownQuery,
    From(peer): From,
    By(program): By,
    State(app): State<Arc<App>>,
    Json(request): Json<LoginRequest>,
) -> Result<Answer<TokenResponse>, Rejection> {
    let tokens = app.log_in(peer, program, request).await?;
    Ok(Answer(tokens))
}

/// Exchanges a refresh token for new tokens. The second use of a refresh token ends its login. If the successor is
/// unused, a second use within ten seconds gets the same successor instead.
#[utoipa::path(post, path = "/auth/refresh", tag = "account", request_body = RefreshRequest,
    responses((status = 200, description = "New tokens.", body = TokenResponse)))]
pub(crate) async fn refresh(
    _: KnownQuery,
    From(peer): From,
    State(app): State<Arc<App>>,
    Json(request): Json<RefreshRequest>,
) -> Result<Answer<TokenResponse>, Rejection> {
    let tokens = app.refresh(peer, request).await?;
    Ok(Answer(tokens))
}

/// Ends the login of a refresh token.
#[utoipa::path(post, path = "/auth/logout", tag = "account", request_body = RefreshRequest,
    responses((status = 204, description = "The login has ended.")))]
pub(crate) async fn log_out(
    _: KnownQuery,
    State(app): State<Arc<App>>,
    Json(request): Json<RefreshRequest>,
) -> Result<StatusCode, Rejection> {
    app.log_out(request).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Returns the user and the account of the access token.
#[utoipa::path(get, path = "/me", tag = "account", security(("access_token" = ["account:read"])),
    responses((status = 200, description = "The caller.", body = Me)))]
pub(crate) async fn me(
    Caller(caller, ..): Caller<may::ReadAccount>,
    State(app): State<Arc<App>>,
) -> Result<Answer<Me>, Rejection> {
    let me = app.me(caller).await?;
    Ok(Answer(me))
}

/// Lists the accounts that the caller belongs to.
#[utoipa::path(get, path = "/accounts", tag = "account",
    security(("access_token" = ["login"])),
    responses((status = 200, description = "The accounts.", body = Vec<Membership>)))]
pub(crate) async fn list_accounts(
    Caller(caller, ..): Caller<may::ActInPerson>,
    State(app): State<Arc<App>>,
) -> Result<Answer<Vec<Membership>>, Rejection> {
    let accounts = app.accounts(caller).await?;
    Ok(Answer(accounts))
}

/// Begins a login in another account of the caller. The current login stays valid.
#[utoipa::path(post, path = "/auth/account", tag = "account",
    security(("access_token" = ["login"])), request_body = EnterAccount,
    responses((status = 200, description = "Logged in to that account.", body = TokenResponse)))]
pub(crate) async fn enter_account(
    Caller(caller, ..): Caller<may::ActInPerson>,
    By(program): By,
    State(app): State<Arc<App>>,
    Json(request): Json<EnterAccount>,
) -> Result<Answer<TokenResponse>, Rejection> {
    let tokens = app.enter_account(caller, program, request).await?;
    Ok(Answer(tokens))
}
