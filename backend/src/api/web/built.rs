//! The pages that are built from `web/`, compressed in advance.
//!
//! The name of a script or a style sheet contains the hash of its content, so a browser keeps the file for good. A page is
//! asked for anew each time and answered with 304 if it is the same.

use std::borrow::Cow;

use axum::{
    body::Body,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

/// Allows nothing but this backend, and no text as a script or as markup.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; \
     frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/// Also allows models on the user's machine, previews of chosen files, and Markdown that was sanitised.
const WORKSPACE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     img-src 'self' data: blob:; connect-src 'self' http://127.0.0.1:* http://localhost:*; \
     base-uri 'none'; form-action 'self'; frame-ancestors 'none'; \
     require-trusted-types-for 'script'; trusted-types link-markdown dompurify";

/// The only address with the policy of the workspace.
const WORKSPACE: &str = "/workspace";

/// No page uses any of these.
const PERMISSIONS: &str = "camera=(), geolocation=(), microphone=(), payment=(), usb=()";

/// How the names of built files begin.
const FOLDER: &str = "app/";
/// The page from which every address of the application starts.
const PAGE: &str = "app/index.html";
/// The encodings, the smallest first, with the ends of their files' names.
const ENCODINGS: [(&str, &str); 2] = [("br", ".br"), ("gzip", ".gz")];

#[derive(rust_embed::RustEmbed)]
#[folder = "../web/dist/"]
struct Built;

/// Answers with the page of the application at one of its addresses, if it is part of this build.
pub(super) fn page(address: &str, headers: &HeaderMap) -> Option<Response> {
    let tag = tag(PAGE)?;
    let mut known =
        headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let mut response = if known.any(|value| value.contains(&tag)) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        encoded(PAGE, headers)?
    };
    let policy = if address == WORKSPACE { WORKSPACE_POLICY } else { POLICY };
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::CACHE_CONTROL, "no-cache"),
        (HeaderName::from_static("permissions-policy"), PERMISSIONS),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response.headers_mut().insert(header::ETAG, HeaderValue::from_str(&tag).ok()?);
    Some(response)
}

/// Answers with a script, a style sheet or an image of the application.
pub(super) fn asset(name: &str, headers: &HeaderMap) -> Option<Response> {
    // The scripts and style sheets are not in folders: neither another folder nor the build's own notes have an address.
    let is_plain = name.strip_prefix(FOLDER).is_some_and(|file| !file.contains('/'));
    let is_copy = ENCODINGS.iter().any(|(_, end)| name.ends_with(end));
    if !is_plain || is_copy || name == PAGE {
        return None;
    }
    let mut response = encoded(name, headers)?;
    let forever = HeaderValue::from_static("public, max-age=31536000, immutable");
    response.headers_mut().insert(header::CACHE_CONTROL, forever);
    Some(response)
}

/// Returns the tag of a page, weak because the encodings share it: the hash of its content, which names every script.
fn tag(name: &str) -> Option<String> {
    let hash = Built::get(name)?.metadata.sha256_hash();
    Some(format!("W/\"{}\"", URL_SAFE_NO_PAD.encode(hash)))
}

/// Returns a file in the smallest encoding that the client accepts.
fn encoded(name: &str, headers: &HeaderMap) -> Option<Response> {
    let plain = Built::get(name)?;
    let mime = HeaderValue::from_str(plain.metadata.mimetype()).ok()?;
    let accepted = headers.get_all(header::ACCEPT_ENCODING);
    let accepted: Vec<&str> = accepted.iter().filter_map(|value| value.to_str().ok()).collect();
    let small = ENCODINGS.iter().find_map(|(encoding, end)| {
        let wanted = accepted.iter().any(|list| accepts(list, encoding));
        wanted
            .then(|| Built::get(&format!("{name}{end}")))
            .flatten()
            .map(|file| (*encoding, file.data))
    });
    let (encoding, data): (Option<&str>, Cow<'static, [u8]>) =
        small.map_or((None, plain.data), |(encoding, data)| (Some(encoding), data));
    let mut response = Response::new(Body::from(data));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, mime);
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if let Some(encoding) = encoding {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
    }
    Some(response)
}

/// Returns whether a list of encodings names this one, without refusing it by `q=0`.
fn accepts(list: &str, encoding: &str) -> bool {
    list.split(',').any(|entry| {
        let (name, weight) = entry.split_once(';').unwrap_or((entry, ""));
        let weight = weight.trim().strip_prefix("q=").and_then(|weight| weight.parse::<f32>().ok());
        name.trim().eq_ignore_ascii_case(encoding) && weight.is_none_or(|weight| weight > 0.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoding_is_accepted_unless_its_weight_is_zero() {
        assert!(accepts("gzip, deflate, br, zstd", "br"));
        assert!(accepts("GZIP;q=0.5", "gzip"));
        assert!(!accepts("br;q=0, gzip", "br"));
        assert!(!accepts("gzip, deflate", "br"));
        assert!(!accepts("", "gzip"));
    }

    #[test]
    fn no_name_leads_out_of_the_folder_or_to_a_compressed_copy() {
        let headers = HeaderMap::new();
        for name in [
            "app/index.html",
            "app/index.html.br",
            "app/../.gitignore",
            "app/.vite/manifest.json",
            ".gitignore",
            "app/",
        ] {
            assert!(asset(name, &headers).is_none(), "{name}");
        }
    }
}
