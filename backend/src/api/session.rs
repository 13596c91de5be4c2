//! Sessions: the login of a browser, the caller's sessions, and the caller's password.

use std::sync::Arc;

use axum::{
    Json as Answer,
    extract::{FromRequest as _, Request, State},
    http::{StatusCode, header, request::Parts},
    response::{IntoResponse as _, Response},
};
use link_protocol::{
    backend_api::session::{ChangePassword, OpenSession, SessionOpened, Sessions},
    id::SessionId,
    problem::Code,
};

use crate::{
    api::{
        caller::{Caller, may},
        cookie,
        extract::{Ids, Json},
        peer,
        problem::Rejection,
        query::KnownQuery,
    },
    app::{App, Visitor},
};

/// Logs a person in with a browser. The answer sets a cookie that no script can read: `__Host-link` over https,
/// `link-PORT` over plain http on loopback. Only a page of this backend can call this: the request needs
/// `Sec-Fetch-Site: same-origin` or, if it is absent, the `Origin` of this backend, and the header `X-Link-Csrf` with
/// any value. Over plain http at any other address nobody is logged in. Programs use `/auth/login`.
#[utoipa::path(post, path = "/session", tag = "account", request_body = OpenSession,
    responses((status = 201, description = "Logged in.", body = SessionOpened,
        headers(("Set-Cookie" = String, description = "The cookie of the session.")))))]
pub(crate) async fn open_session(
    _: KnownQuery,
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, Rejection> {
    let (parts, body) = request.into_parts();
    let site = cookie::check_login(&parts, &app)?;
    let caller = match cookie::caller(&parts, &app).await {
        Ok(caller) => caller,
        // A session that has ended does not prevent the next one.
        Err(rejection) if rejection.is(Code::Unauthorized) => None,
        Err(rejection) => return Err(rejection),
    };
    let (peer, program) = (peer::of(&parts, &app), peer::program(&parts.headers));
    let visitor = Visitor { peer, program, cookie: site.cookie.clone(), caller };
    let request = Request::from_parts(parts, body);
    let Json(wish) = Json::<OpenSession>::from_request(request, &app).await?;
    let opened = app.open_session(visitor, wish).await?;
    let cookie = cookie::of_secret(&site, &opened.cookie);
    let answer = Answer(opened.answer);
    Ok((StatusCode::CREATED, [(header::SET_COOKIE, cookie)], answer).into_response())
}

/// Ends the session of the caller: logs out.
#[utoipa::path(delete, path = "/session", tag = "account", security(("access_token" = ["login"])),
    responses((status = 204, description = "The session has ended.")))]
pub(crate) async fn close_session(
    Caller(caller, ..): Caller<may::ActInPerson>,
    State(app): State<Arc<App>>,
    parts: Parts,
) -> Result<Response, Rejection> {
    app.end_current_session(caller).await?;
    let mut response = StatusCode::NO_CONTENT.into_response();
    if parts.headers.contains_key(header::COOKIE)
        && let Some(cookie) = cookie::deleted(&parts, &app)
    {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    Ok(response)
}

/// Lists the caller's sessions in all accounts, the one used last first: browsers, and programs such as `link`.
#[utoipa::path(get, path = "/sessions", tag = "account", security(("access_token" = ["login"])),
    responses((status = 200, description = "The sessions.", body = Sessions)))]
pub(crate) async fn list_sessions(
    Caller(caller, ..): Caller<may::ActInPerson>,
    State(app): State<Arc<App>>,
) -> Result<Answer<Sessions>, Rejection> {
    Ok(Answer(app.sessions(caller).await?))
}

/// Ends a session of the caller at once.
#[utoipa::path(delete, path = "/sessions/{session_id}", tag = "account",
    security(("access_token" = ["login"])), params(("session_id" = SessionId, Path)),
    responses((status = 204, description = "The session has ended.")))]
pub(crate) async fn end_session(
    Caller(caller, ..): Caller<may::ActInPerson>,
    State(app): State<Arc<App>>,
    Ids(session): Ids<SessionId>,
) -> Result<StatusCode, Rejection> {
    app.end_session(caller, session).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Ends all sessions of the caller except that of the request.
#[utoipa::path(delete, path = "/sessions", tag = "account", security(("access_token" = ["login"])),
    responses((status = 204, description = "The other sessions have ended.")))]
pub(crate) async fn end_other_sessions(
    Caller(caller, ..): Caller<may::ActInPerson>,
    State(app): State<Arc<App>>,
) -> Result<StatusCode, Rejection> {
    app.end_other_sessions(caller).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Changes the caller's password and ends all other sessions of the caller. The cookie of a browser is replaced, so that
/// no copy of it lasts. Attempts count as logins.
#[utoipa::path(post, path = "/me/password", tag = "account",
    security(("access_token" = ["login"])), request_body = ChangePassword,
    responses((status = 204, description = "The password is changed.",
        headers(("Set-Cookie" = String, description = "The new cookie of a browser.")))))]
pub(crate) async fn change_password(
    Caller(caller, ..): Caller<may::ActInPerson>,
    State(app): State<Arc<App>>,
    parts: Parts,
    Json(request): Json<ChangePassword>,
) -> Result<Response, Rejection> {
    let site = cookie::presented(&parts, &app)?;
    let name = site.as_ref().map(|site| site.cookie.as_str());
    let renewed = app.change_password(caller, request, name).await?;
    let mut response = StatusCode::NO_CONTENT.into_response();
    if let (Some(site), Some(secret)) = (site, renewed) {
        response.headers_mut().insert(header::SET_COOKIE, cookie::of_secret(&site, &secret));
    }
    Ok(response)
}
