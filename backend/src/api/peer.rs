//! The source address of a request, and the program that sent it.

use std::{
    convert::Infallible,
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use axum::{
    extract::{ConnectInfo, FromRequestParts},
    http::{Extensions, HeaderMap, header, request::Parts},
};

use crate::{
    app::App,
    domain::{attempts::Peer, session::Program},
};

/// The source address of a request.
pub(crate) struct From(pub(crate) Peer);

impl FromRequestParts<Arc<App>> for From {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Infallible> {
        std::future::ready(Ok(Self(of(parts, app)))).await
    }
}

/// The program that sent a request.
pub(crate) struct By(pub(crate) Program);

impl FromRequestParts<Arc<App>> for By {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, Infallible> {
        std::future::ready(Ok(Self(program(&parts.headers)))).await
    }
}

/// Returns the program that sent a request with these headers.
pub(crate) fn program(headers: &HeaderMap) -> Program {
    let agent = headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok());
    agent.map(Program::of).unwrap_or_default()
}

/// Returns the source address of the request of `parts`.
pub(crate) fn of(parts: &Parts, app: &App) -> Peer {
    Peer(address(&parts.extensions, &parts.headers, app.is_behind_proxy()))
}

/// Returns the source address of the request with these extensions and headers. None if it did not arrive over HTTP.
pub(crate) fn address(
    extensions: &Extensions,
    headers: &HeaderMap,
    is_behind_proxy: bool,
) -> Option<IpAddr> {
    let connected = extensions.get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip());
    let forwarded = if is_behind_proxy { forwarded(headers) } else { None };
    forwarded.or(connected)
}

/// Returns the address that the proxy in front of the backend has added. This is the last entry, because a client can
/// forge the earlier ones.
#[must_use]
pub fn forwarded(headers: &HeaderMap) -> Option<IpAddr> {
    let value = headers.get_all("x-forwarded-for").iter().next_back()?.to_str().ok()?;
    value.rsplit(',').next()?.trim().parse().ok()
}
