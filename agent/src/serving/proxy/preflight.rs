//! Answers to preflight requests.
//!
//! If the path names a model, only that model's allowlist counts. Any other path may lead to any
//! model of the port, because the model is named in the body, which a preflight does not have. Such
//! a preflight succeeds for an origin on any of the allowlists, and the request itself is checked
//! against the allowlist of its model.

use http::{HeaderMap, Request, Response, StatusCode, header};
use link_agent_core::cors::{self, Preflight};
use link_protocol::allowlist::Allowlist;

use super::{
    answer::{self, Body},
    models,
    route::{self, Live},
};

/// Answers a preflight.
pub(super) fn answer<B>(routes: &[Live], request: &Request<B>) -> Response<Body> {
    let headers = request.headers();
    let asked = Preflight {
        origin: route::origin(headers),
        method: text(headers, &header::ACCESS_CONTROL_REQUEST_METHOD),
        headers: text(headers, &header::ACCESS_CONTROL_REQUEST_HEADERS),
        private_network: headers.contains_key("access-control-request-private-network"),
    };
    match cors::preflight(asked, allowlists(routes, request.uri().path())) {
        Some(headers) => answer::empty(StatusCode::NO_CONTENT, headers),
        None => answer::problem(route::no_list_names_it(routes), cors::response(None)),
    }
}

/// Returns the allowlists that apply to `path`.
fn allowlists<'a>(routes: &'a [Live], path: &str) -> impl Iterator<Item = &'a Allowlist> {
    let is_path = |live: &Live, rest: &str| models::is_ours(rest) || live.serves(rest);
    let below = |live: &Live| {
        let name = path.strip_prefix(models::LIST).and_then(|rest| rest.strip_prefix('/'));
        name == Some(live.route.alias.as_str())
    };
    let named = route::prefixed(routes, path, is_path)
        .map(|(index, _)| index)
        .or_else(|| routes.iter().position(below));
    let routes = named.map_or(routes, |index| &routes[index..=index]);
    routes.iter().map(|live| &live.route.allowlist)
}

fn text<'a>(headers: &'a HeaderMap, name: &header::HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
