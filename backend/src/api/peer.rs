//! Where a request comes from.

use std::{
    convert::Infallible,
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use axum::{
    extract::{ConnectInfo, FromRequestParts},
    http::{HeaderMap, request::Parts},
};

use crate::{app::App, domain::attempts::Peer};

/// The network address that a request comes from.
pub(crate) struct From(pub(crate) Peer);

impl FromRequestParts<Arc<App>> for From {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Infallible> {
        std::future::ready(Ok(Self(of(parts, app)))).await
    }
}

/// Returns where the request of `parts` comes from.
pub(crate) fn of(parts: &Parts, app: &App) -> Peer {
    let connected = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip());
    let forwarded = if app.is_behind_proxy() { forwarded(&parts.headers) } else { None };
    Peer(forwarded.or(connected))
}

/// Returns what the proxy in front of the backend wrote: the last entry, because the ones before it
/// are what the proxy was told.
#[must_use]
pub fn forwarded(headers: &HeaderMap) -> Option<IpAddr> {
    let value = headers.get_all("x-forwarded-for").iter().next_back()?.to_str().ok()?;
    value.rsplit(',').next()?.trim().parse().ok()
}
