//! Entity tags of documents and lists: the tag is the hash of the answer, so equal answers have equal tags, whichever
//! backend made them. A reader who sends the tag of its copy gets 304 without a body if the copy is still right. A
//! change with the tag in `If-Match` is refused if the document was changed since.

use std::{convert::Infallible, sync::Arc};

use axum::{
    body::{Body, HttpBody as _, to_bytes},
    extract::FromRequestParts,
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header, request::Parts},
    response::Response,
};
use futures_util::FutureExt as _;
use link_protocol::agent_api::PREFIX;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::app::App;

/// The maximum length of an answer that gets a tag. A page of 200 devices is well below.
const LONGEST: usize = 8 * 1024 * 1024;
/// Bytes of the hash in a tag.
const BYTES: usize = 16;

/// Returns the tags that a request gives, if its answer gets a tag: it reads a document or a list of an account.
pub(super) fn asked(
    method: &Method,
    path: Option<&str>,
    headers: &HeaderMap,
) -> Option<Vec<String>> {
    let of_account = path?.strip_prefix(PREFIX)?;
    if *method != Method::GET || of_account.starts_with("/agent/") {
        return None;
    }
    Some(tags(headers, &header::IF_NONE_MATCH))
}

/// Adds the tag to an answer, and leaves out its body if the request gave the same tag.
pub(super) fn tagged(mut response: Response, known: &[String]) -> Response {
    let is_json =
        response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    let length = response.body().size_hint().exact();
    let is_short = length.is_some_and(|length| length <= LONGEST as u64);
    if response.status() != StatusCode::OK || !is_json || !is_short {
        return response;
    }
    let body = std::mem::take(response.body_mut());
    // A body of a known length is in memory, so reading it does not wait.
    let Some(Ok(bytes)) = to_bytes(body, LONGEST).now_or_never() else {
        *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        return response;
    };
    let tag = tag_of(&bytes);
    let matches =
        |known: &String| *known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag;
    if known.iter().any(matches) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        for name in [header::CONTENT_TYPE, header::CONTENT_LENGTH] {
            response.headers_mut().remove(name);
        }
    } else {
        *response.body_mut() = Body::from(bytes);
    }
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

/// Returns the tag of a document.
fn tag_of(bytes: &[u8]) -> String {
    let digits: String =
        Sha256::digest(bytes).iter().take(BYTES).map(|byte| format!("{byte:02x}")).collect();
    format!("\"{digits}\"")
}

/// The tags of `If-Match`: the caller wants a change only if the document still has one of them. A change without the header
/// replaces whatever is there.
#[derive(Debug)]
pub(crate) struct IfMatch(Option<Vec<String>>);

impl IfMatch {
    /// Returns the check of the document that is to be changed. None if the caller wants none.
    pub(super) fn check<T: Serialize>(self) -> Option<impl Fn(&T) -> bool> {
        let tags = self.0?;
        Some(move |document: &T| {
            let tag = serde_json::to_vec(document).map(|bytes| tag_of(&bytes));
            // A weak tag says that two documents mean the same, not that they are the same (RFC 9110, section 13.1.1).
            tag.is_ok_and(|tag| tags.iter().any(|given| *given == "*" || *given == tag))
        })
    }
}

impl FromRequestParts<Arc<App>> for IfMatch {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _app: &Arc<App>) -> Result<Self, Infallible> {
        let given = parts.headers.contains_key(header::IF_MATCH);
        let tags = given.then(|| tags(&parts.headers, &header::IF_MATCH));
        std::future::ready(Ok(Self(tags))).await
    }
}

/// Returns the tags in a header.
fn tags(headers: &HeaderMap, name: &HeaderName) -> Vec<String> {
    let given = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    given.flat_map(|value| value.split(',')).map(|tag| tag.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use axum::{Json, response::IntoResponse as _};

    use super::*;

    #[test]
    fn the_same_document_is_answered_without_a_body() {
        let first = tagged(Json("a").into_response(), &[]);
        let tag = first.headers()[header::ETAG].to_str().unwrap().to_owned();
        assert_eq!(first.status(), 200);
        for known in [tag.clone(), format!("W/{tag}"), "*".to_owned()] {
            let again = tagged(Json("a").into_response(), &["\"other\"".to_owned(), known]);
            assert_eq!(
                (again.status(), again.body().size_hint().exact()),
                (StatusCode::NOT_MODIFIED, Some(0))
            );
            assert_eq!(again.headers()[header::ETAG].to_str().unwrap(), tag);
            assert!(again.headers().get(header::CONTENT_TYPE).is_none());
        }
        let changed = tagged(Json("b").into_response(), &[tag]);
        assert_eq!(changed.status(), 200);
    }

    #[test]
    fn a_change_is_wanted_only_for_the_document_with_the_tag() {
        let tag = tagged(Json("a").into_response(), &[]).headers()[header::ETAG].clone();
        let tag = tag.to_str().unwrap();
        let fits = |tags: &[&str]| {
            let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
            IfMatch(Some(tags)).check::<&str>().unwrap()(&"a")
        };
        assert!(fits(&[tag]) && fits(&["\"other\"", tag]) && fits(&["*"]));
        assert!(!fits(&["\"other\""]) && !fits(&[]) && !fits(&[&format!("W/{tag}")]));
        assert!(IfMatch(None).check::<&str>().is_none());
    }

    #[test]
    fn agents_and_changes_get_no_tag() {
        let none = HeaderMap::new();
        assert!(asked(&Method::GET, Some("/api/v1/devices"), &none).is_some());
        assert!(asked(&Method::POST, Some("/api/v1/devices"), &none).is_none());
        assert!(asked(&Method::GET, Some("/api/v1/agent/{device_id}/commands"), &none).is_none());
        assert!(asked(&Method::GET, Some("/releases/{name}"), &none).is_none());
        assert!(asked(&Method::GET, None, &none).is_none());
        let text = "plain".into_response();
        assert!(tagged(text, &[]).headers().get(header::ETAG).is_none());
    }
}
