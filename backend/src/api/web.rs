//! The pages, whose files are part of the program: those that `cargo xtask web` builds from `web/`, and the two of
//! `backend/web` that stand in for a page which is missing or not built.

mod built;

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header},
    response::{IntoResponse as _, Response},
};
use link_protocol::problem::Code;

use crate::api::problem::Rejection;

/// Allows only styles and images from this backend: the pages of `backend/web` have no scripts.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'";

/// The page of a backend that was built without the pages of `web/`: it says how to build them.
const UNBUILT: &str = "unbuilt.html";
/// The page for a browser at an unknown address.
const MISSING: &str = "missing.html";
/// The page that makes the first account.
pub(crate) const SETUP: &str = "/setup";
/// How the paths of the API begin.
const API: &str = "api/";

#[derive(rust_embed::RustEmbed)]
#[folder = "web/"]
struct Web;

/// The addresses of the application that is built from `web/`; `web/src/ui/addresses.ts` lists the same.
pub(crate) const PAGES: &[&str] = &[
    "/",
    "/devices",
    "/devices/add",
    "/devices/{id}",
    "/keys",
    "/members",
    "/tokens",
    "/audit",
    "/usage",
    "/settings",
    "/login",
    "/setup",
    "/device",
    "/invite",
    "/deployments",
    "/repairs",
    "/operations",
    "/operations/{id}",
    "/models",
    "/models/{id}",
    "/workspace",
];

/// Answers with the page of the application that is built from `web/`, with the policy of its address.
pub(crate) fn built_page(address: &str, headers: &HeaderMap) -> Response {
    built::page(address, headers).unwrap_or_else(unbuilt)
}

/// Leads to the page that makes the first account. A browser keeps what follows `#`: the setup token.
pub(crate) fn to_setup() -> Response {
    let headers = [(header::LOCATION, SETUP), (header::CACHE_CONTROL, "no-store")];
    (StatusCode::SEE_OTHER, headers).into_response()
}

/// Answers a path without a route: with the file of this name, else with 404. A browser that navigates there gets a page,
/// any other client gets a problem document.
pub(crate) async fn file_or_nothing(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    let name = uri.path().trim_start_matches('/');
    let reads = method == Method::GET || method == Method::HEAD;
    let found = reads.then(|| file(name).or_else(|| built::asset(name, &headers))).flatten();
    let wants_page = reads && !name.starts_with(API) && accepts_html(&headers);
    let missing = || {
        let mut page = wants_page.then(|| file(MISSING)).flatten()?;
        *page.status_mut() = StatusCode::NOT_FOUND;
        Some(page)
    };
    let nothing =
        || Rejection::new(Code::NotFound, "there is nothing at this path").into_response();
    std::future::ready(found.or_else(missing).unwrap_or_else(nothing)).await
}

/// Answers for a page of `web/` that is not part of this build.
fn unbuilt() -> Response {
    let mut page = page(UNBUILT);
    *page.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    page
}

/// Answers with a page of `backend/web`.
fn page(name: &str) -> Response {
    file(name).unwrap_or_else(|| {
        Rejection::new(Code::NotFound, "this page is not part of this build").into_response()
    })
}

fn accepts_html(headers: &HeaderMap) -> bool {
    let mut accepted =
        headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted.any(|value| value.contains("text/html"))
}

fn file(name: &str) -> Option<Response> {
    let file = Web::get(name)?;
    let mime = HeaderValue::from_str(file.metadata.mimetype()).ok()?;
    let mut response = Response::new(Body::from(file.data));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, mime);
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    Some(response)
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;

    #[tokio::test]
    async fn a_page_that_is_not_built_names_the_commands_that_build_it() {
        let answer = unbuilt();
        assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(answer.headers()[header::CONTENT_TYPE], "text/html");
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        let html = String::from_utf8(body.to_vec()).unwrap();
        for command in ["scripts/prepare web", "cargo xtask web", "cargo build -p link-backend"] {
            assert!(html.contains(command), "`{command}` is missing: {html}");
        }
    }
}
