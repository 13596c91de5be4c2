//! The cookie of a browser: reads it from a request, and answers with a new one.
//!
//! A request with a bearer token is judged by the token alone, and its cookies are ignored. The address at which the
//! browser reaches the backend decides which cookie counts and what else the request needs (`domain::site`).

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use axum::http::{HeaderMap, HeaderValue, header, request::Parts};
use link_protocol::{backend_api::session::CSRF_HEADER, limits, secret::Secret};

use crate::{
    api::{peer, problem::Rejection},
    app::App,
    auth::access::Identity,
    domain::{
        refusal::Refusal,
        site::{self, Claims, Cookie, Site},
    },
};

/// The longest time after which an answer still sets a new cookie. The next request gets the same cookie.
const LONGEST_ANSWER: Duration = Duration::from_secs(30);

/// The cookie that the answer to a request sets, if its secret was replaced.
#[derive(Clone, Debug, Default)]
pub(crate) struct Renewal(Arc<OnceLock<HeaderValue>>);

impl Renewal {
    /// Returns the place for the new cookie of a request, if the request has a cookie at all.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        headers.contains_key(header::COOKIE).then(Self::default)
    }

    /// Sets the new cookie, unless the answer sets another one or took so long that the browser may hold a later one.
    pub(crate) fn complete(self, headers: &mut HeaderMap, taken: Duration) {
        if let Some(cookie) = self.0.get()
            && taken < LONGEST_ANSWER
            && !headers.contains_key(header::SET_COOKIE)
        {
            headers.insert(header::SET_COOKIE, cookie.clone());
        }
    }
}

/// Returns the person whose browser has sent the request, if it has the cookie of a session.
///
/// # Errors
/// The refusals of [`Site`], [`Refusal::Unauthorized`] if the session has ended.
pub(crate) async fn caller(parts: &Parts, app: &App) -> Result<Option<Identity>, Rejection> {
    if !site::has_session(cookies(&parts.headers)) {
        return Ok(None);
    }
    let site = site_of(parts, app)?;
    let Some(secret) = site.secret(cookies(&parts.headers))? else { return Ok(None) };
    let claims = claims(parts);
    site.check(claims)?;
    let cookie = Cookie { name: &site.cookie, secret };
    let peer = peer::of(parts, app);
    let (identity, renewed) = app.identify_session(cookie, claims.csrf, peer).await?;
    if let (Some(secret), Some(place)) = (renewed, parts.extensions.get::<Renewal>()) {
        // A second identification of the same request gives the same cookie.
        place.0.get_or_init(|| of_secret(&site, &secret));
    }
    Ok(Some(identity))
}

/// Checks that a page of this backend has sent the request for a login.
///
/// # Errors
/// The refusals of [`Site`].
pub(crate) fn check_login(parts: &Parts, app: &App) -> Result<Site, Rejection> {
    let site = site_of(parts, app)?;
    site.check(claims(parts))?;
    Ok(site)
}

/// Returns the cookie with the secret of a session.
pub(crate) fn of_secret(site: &Site, secret: &Secret) -> HeaderValue {
    let seconds = i64::try_from(limits::SESSION_LIFETIME.as_secs()).unwrap_or(i64::MAX);
    HeaderValue::from_str(&site.set_cookie(secret.expose(), seconds))
        .expect("a secret and the name of a cookie are visible ASCII")
}

/// Returns the cookie of this address, if the request has the cookie of a session.
///
/// # Errors
/// The refusals of [`Site`].
pub(crate) fn presented(parts: &Parts, app: &App) -> Result<Option<Site>, Rejection> {
    let is_present = site::has_session(cookies(&parts.headers));
    Ok(is_present.then(|| site_of(parts, app)).transpose()?)
}

/// Returns the cookie that deletes the cookie of the browser, if this is an address with cookies.
pub(crate) fn deleted(parts: &Parts, app: &App) -> Option<HeaderValue> {
    let site = site_of(parts, app).ok()?;
    HeaderValue::from_str(&site.set_cookie("", 0)).ok()
}

fn site_of(parts: &Parts, app: &App) -> Result<Site, Refusal> {
    let mut hosts = parts.headers.get_all(header::HOST).iter();
    let host = match (hosts.next(), hosts.next()) {
        (Some(host), None) => host.to_str().map_err(|_| Refusal::UnknownHost)?,
        (None, _) => parts.uri.authority().map_or("", |authority| authority.as_str()),
        (Some(_), Some(_)) => return Err(Refusal::UnknownHost),
    };
    Site::of(host, app.public_url())
}

fn claims(parts: &Parts) -> Claims<'_> {
    let text = |name: &str| parts.headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    Claims {
        is_safe: parts.method.is_safe(),
        fetch_site: text("sec-fetch-site"),
        origin: text("origin"),
        csrf: text(CSRF_HEADER),
    }
}

fn cookies(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok())
}
