//! The dashboard and the workspace, whose files are part of the program.

use axum::{
    body::Body,
    http::{HeaderValue, Method, Uri, header},
    response::{IntoResponse as _, Response},
};
use link_protocol::problem::Code;

use crate::api::problem::Rejection;

/// Allows only scripts, styles and images of this backend, and connections to models on the reader's machine.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     img-src 'self' data:; font-src 'self'; connect-src 'self' http://127.0.0.1:* \
     http://localhost:*; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

#[derive(rust_embed::RustEmbed)]
#[folder = "web/"]
struct Web;

/// Answers with a page.
pub(crate) fn page(name: &str) -> Response {
    file(name).unwrap_or_else(|| {
        Rejection::new(Code::NotFound, "this page is not part of this build").into_response()
    })
}

/// Answers a path without a route with the file of that name, if there is one.
pub(crate) async fn file_or_nothing(method: Method, uri: Uri) -> Response {
    let name = uri.path().trim_start_matches('/');
    let found = (method == Method::GET || method == Method::HEAD).then(|| file(name)).flatten();
    let nothing = || Rejection::new(Code::NotFound, "there is nothing at this path");
    std::future::ready(found.unwrap_or_else(|| nothing().into_response())).await
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
