//! The headers of a request that reach the engine, and those that stay on one connection.

use http::{HeaderMap, HeaderName, header};

/// Headers of a single connection, which are not forwarded.
const HOP_BY_HOP: [HeaderName; 10] = [
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::HOST,
];

/// Returns the headers for the engine: without the client's secret and origin, and without
/// encodings that the scanner cannot read.
pub(super) fn outgoing(mut headers: HeaderMap) -> HeaderMap {
    remove_hop_by_hop(&mut headers);
    for name in [
        header::ORIGIN,
        header::COOKIE,
        header::REFERER,
        header::ACCEPT_ENCODING,
        header::CONTENT_LENGTH,
    ] {
        headers.remove(name);
    }
    headers
}

/// Removes hop-by-hop headers, including those that `Connection` names (RFC 9110, 7.6.1).
pub(super) fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<String> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|names| names.to_str().ok())
        .flat_map(|names| names.split(','))
        .map(|name| name.trim().to_owned())
        .collect();
    for name in named {
        headers.remove(name);
    }
    for name in &HOP_BY_HOP {
        headers.remove(name);
    }
}
